// The daemon's changes as they happen: GET /events, read with the token in a header, which the
// browser's own EventSource cannot send. Asleep while the tab is hidden: a browser allows six
// connections to one server, and six open tabs would leave none to call with.

import { effect, signal } from "@preact/signals";
import { request } from "./api";
import { signedIn } from "./session";
import type { Change } from "./types";

type Listener = (change: Change) => void;

export const connected = signal(false);
/** Counts the changes, for those who read again on any. */
export const changes = signal(0);

const listeners = new Set<Listener>();
const RETRY_MS = 2_000;

/** Calls `listener` with each change, until what is returned is called. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let running: AbortController | null = null;
let last = "";

async function listen(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const response = await request("/events", { headers, signal: stop });
      connected.value = true;
      await read(response.body!.pipeThrough(new TextDecoderStream()).getReader());
    } catch {
      if (stop.aborted) break;
    }
    connected.value = false;
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
}

async function read(reader: ReadableStreamDefaultReader<string>): Promise<void> {
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) tell(block);
  }
}

function tell(block: string): void {
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) last = line.slice(4);
    if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (!data) return;
  const change = JSON.parse(data) as Change;
  changes.value += 1;
  for (const listener of listeners) listener(change);
}

function decide(): void {
  const wanted = signedIn.value && !document.hidden;
  if (wanted && !running) {
    running = new AbortController();
    void listen(running.signal);
  } else if (!wanted && running) {
    running.abort();
    running = null;
    connected.value = false;
    if (!signedIn.value) last = "";
  }
}

export function keepListening(): void {
  document.addEventListener("visibilitychange", decide);
  effect(decide);
}
