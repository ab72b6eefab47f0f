// Calls of the daemon's REST side: the token along, errors as `ApiError` with the server's sentence.

import { signOut, token } from "./session";

/** A refusal. `status` 0: the daemon was not reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

type Query = Record<string, string | number | boolean | null | undefined>;

/** Any call with the token; throws ApiError for what is not 2xx. */
export async function request(path: string, init: RequestInit = {}, as = token.value): Promise<Response> {
  const headers = new Headers(init.headers);
  if (as) headers.set("Authorization", `Bearer ${bytes(as)}`);
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, credentials: "omit", cache: "no-store" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable");
  }
  if (response.ok) return response;
  if (response.status === 401 && as === token.value) signOut(true);
  let body: Record<string, unknown> = {};
  try {
    body = await response.json();
  } catch {
    // Not ours: a proxy in between.
  }
  const message = typeof body.error === "string" ? body.error : `HTTP ${response.status}`;
  throw new ApiError(response.status, message, body);
}

/** A text for a header: its UTF-8, a character a byte. */
function bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (b) => String.fromCharCode(b)).join("");
}

export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  const text = params.toString();
  const response = await request(text ? `${path}?${text}` : path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function post<T>(path: string, body: object): Promise<T> {
  const headers = { "Content-Type": "application/json" };
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as T;
}
