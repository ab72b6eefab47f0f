// One request to the daemon. Its CORS answers let any origin call that has the token, so no
// permission for a host is needed where the browser does not insist on one.

const SECONDS = 30;

/** The daemon answered, and said no. `status` is the HTTP status. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Nothing that speaks as the daemon does answered. */
export class Unreachable extends Error {}

export async function ask({ address, token }, path, { query, body } = {}) {
  const url = new URL(path, address);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  let response;
  let answer;
  try {
    response = await fetch(url, {
      method: body ? "POST" : "GET",
      headers: {
        Accept: "application/json",
        Authorization: `Bearer ${token}`,
        ...(body ? { "Content-Type": "application/json" } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: AbortSignal.timeout(SECONDS * 1000),
    });
    answer = await response.json();
  } catch (error) {
    // What a header cannot hold is a wrong token, not a daemon that is away.
    if (/[^\x21-\x7e]/.test(token)) throw new Refused(401, "Unauthorized");
    throw new Unreachable(String(error?.message ?? error));
  }
  if (!response.ok) throw new Refused(response.status, String(answer?.error ?? response.status));
  return answer;
}
