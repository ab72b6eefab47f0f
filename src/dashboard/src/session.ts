// Who is signed in: the token, kept by the browser for this origin and sent as a header only.
//
// No cookie: nothing that a foreign page causes carries it, so no request can be forged with it.

import { computed, signal } from "@preact/signals";
import { readText, write } from "./storage";

const KEY = "second-brain.token";
/** A text that is being written and not stored yet; it goes when its author signs out. */
export const DRAFT = "second-brain.draft";

export const token = signal<string | null>(readText(KEY));
export const signedIn = computed(() => token.value !== null);
/** Set when the server no longer takes the token. */
export const ended = signal(false);

/** Keeps the token; with `brief` until the tab is closed. */
export function signIn(value: string, brief: boolean): void {
  write(KEY, value, brief);
  ended.value = false;
  token.value = value;
}

export function signOut(byServer = false): void {
  write(KEY, null);
  write(DRAFT, null);
  ended.value = byServer;
  token.value = null;
}

// Signed out in one tab is signed out in all.
addEventListener("storage", (event) => {
  if (event.key === KEY && event.newValue === null && event.storageArea === localStorage) signOut();
});
