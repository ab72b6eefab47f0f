// What is to be remembered and has not been answered yet. Each text lies under a key of its own in
// storage.local from the moment it is captured until the daemon has answered for it.
//
// Sent twice it is stored once: the daemon knows a text that it has in the same words, so what was
// sent and whose answer was lost may be sent again.

import { ask, Refused, Unreachable } from "./api.js";
import { browser, settings } from "./settings.js";

const PREFIX = "capture:";
const ALARM = "send";
// The text itself is at fault: sending it again would not help.
const HOPELESS = new Set([400, 413, 422]);

/** Answers to those who wait for them, by key. */
const answered = new Map();

/** All that waits, oldest first: `{key, content, title, added, tries, refused}`. */
export async function waiting() {
  const all = await browser.storage.local.get(null);
  return Object.keys(all)
    .filter((key) => key.startsWith(PREFIX))
    .sort()
    .map((key) => ({ key, ...all[key] }));
}

/** Keep a text and try to send it. What became of it: `{state, message?, score?, path?}`. */
export async function capture(content, title) {
  const now = Date.now();
  const key = `${PREFIX}${String(now).padStart(15, "0")}:${crypto.randomUUID()}`;
  await browser.storage.local.set({
    [key]: { content, title, added: now, tries: 0, refused: null },
  });
  answered.set(key, null);
  try {
    const problem = await send();
    return answered.get(key) ?? { state: "waiting", problem };
  } finally {
    answered.delete(key);
  }
}

/** Try again what the daemon refused, after all. */
export async function retry(key) {
  const { [key]: item } = await browser.storage.local.get(key);
  if (item) await browser.storage.local.set({ [key]: { ...item, refused: null } });
  return send();
}

export async function drop(key) {
  await navigator.locks.request("queue", () => browser.storage.local.remove(key));
  await show();
}

/** Send what waits, one after the other; why some still waits, or null. */
export function send() {
  return navigator.locks.request("queue", async () => {
    const chosen = await settings();
    let problem = null;
    for (const item of await waiting()) {
      if (item.refused) continue;
      problem = await sendOne(item, chosen);
      if (problem) break;
    }
    await show(problem);
    return problem;
  });
}

async function sendOne({ key, ...item }, chosen) {
  if (!chosen.token) return { kind: "settings" };
  await browser.storage.local.set({ [key]: { ...item, tries: item.tries + 1 } });
  try {
    const body = { content: item.content, source: "extension" };
    const answer = await ask(chosen, "/capture", { body });
    // Something else that answers in JSON at this address has stored nothing.
    if (!answer?.id && !answer?.duplicate) throw new Unreachable("no answer of a daemon");
    await browser.storage.local.remove(key);
    tell(key, outcome(answer, item.tries));
    return null;
  } catch (error) {
    if (error instanceof Refused && HOPELESS.has(error.status)) {
      await browser.storage.local.set({ [key]: { ...item, refused: error.message } });
      tell(key, { state: "refused", message: error.message });
      return null;
    }
    if (error instanceof Refused) {
      return { kind: error.status === 401 ? "token" : "refused", message: error.message };
    }
    if (error instanceof Unreachable) return { kind: "away" };
    throw error;
  }
}

function tell(key, answer) {
  if (answered.has(key)) answered.set(key, answer);
}

function outcome(answer, triesBefore) {
  const { message, path, score } = answer;
  if (answer.duplicate) {
    // The very same text, sent before without an answer: it is our own that is found.
    const own = triesBefore > 0 && score === 100;
    return { state: own ? "stored" : "duplicate", message, score };
  }
  const states = { merged: "merged", replaced: "replaced" };
  return { state: states[answer.action] ?? answer.warning ?? "stored", message, path, score };
}

/** Say on the button how much waits, and have the browser wake us while something does. */
async function show(problem = null) {
  const items = await waiting();
  const open = items.filter((item) => !item.refused).length;
  await browser.action.setBadgeBackgroundColor({ color: problem ? "#8a5a00" : "#6b3fd4" });
  await browser.action.setBadgeText({ text: items.length ? String(items.length) : "" });
  if (!open) await browser.alarms.clear(ALARM);
  else if (!(await browser.alarms.get(ALARM))) {
    await browser.alarms.create(ALARM, { delayInMinutes: 0.5, periodInMinutes: 1 });
  }
}

export function isSendAlarm(alarm) {
  return alarm.name === ALARM;
}
