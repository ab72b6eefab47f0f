// The address and the token, kept in this browser alone, and the name of the browser's own API.

import { ADDRESS } from "./defaults.js";

export const browser = globalThis.browser ?? globalThis.chrome;

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export async function settings() {
  const kept = await browser.storage.local.get(["address", "token", "lookUp", "withText"]);
  return { address: ADDRESS, token: "", lookUp: true, withText: true, ...kept };
}

export function saveSettings(changes) {
  return browser.storage.local.set(changes);
}

/** What was typed as the address of the daemon, without a path; null if it is none. */
export function cleanAddress(typed) {
  const text = typed.trim();
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    const name = url.hostname;
    return /^https?:$/.test(url.protocol) && name && !name.includes("%") ? url.origin : null;
  } catch {
    return null;
  }
}

/** Whether a token sent there could be read on the way. */
export function travelsOpenly(address) {
  const url = new URL(address);
  return url.protocol === "http:" && !LOOPBACK.test(url.hostname);
}
