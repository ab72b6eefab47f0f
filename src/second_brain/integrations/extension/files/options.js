// The settings: address, token, and whether the one opens the door of the other.

import { ask, Refused } from "./api.js";
import { browser, cleanAddress, saveSettings, settings, travelsOpenly } from "./settings.js";
import { fillIn, word } from "./words.js";

const part = (id) => document.getElementById(id);

async function start() {
  fillIn();
  const kept = await settings();
  part("address").value = kept.address;
  part("token").value = kept.token;
  part("look-up").checked = kept.lookUp;
  part("address").addEventListener("blur", () => {
    const address = cleanAddress(part("address").value);
    if (address) part("address").value = address;
  });
  part("form").noValidate = true; // "127.0.0.1:8787" is no address to the browser, but is to us
  part("form").addEventListener("submit", save);
  part("test").addEventListener("click", test);
  part("allow").addEventListener("click", allow);
  const commands = (await browser.commands?.getAll()) ?? [];
  const keys = commands.filter((one) => one.shortcut).map((one) => one.shortcut);
  part("shortcuts").textContent = word("shortcuts_are", keys.join(", ") || "–");
}

/** What stands in the fields, or null after saying what is wrong with it. */
function typed() {
  const address = cleanAddress(part("address").value);
  const token = part("token").value.trim().replace(/^Bearer\s+/i, "");
  if (!address) return wrong("address", word("no_address"));
  if (!token) return wrong("token", word("no_token"));
  part("address").value = address;
  part("warning").hidden = !travelsOpenly(address);
  return { address, token };
}

function wrong(field, text) {
  say("wrong", text);
  part(field).focus();
  return null;
}

function say(state, text) {
  part("outcome").dataset.state = state;
  part("outcome").textContent = text;
}

async function save(event) {
  event.preventDefault();
  const chosen = typed();
  if (!chosen) return;
  await saveSettings({ ...chosen, lookUp: part("look-up").checked });
  await check(chosen, word("saved"));
}

async function test() {
  const chosen = typed();
  if (chosen) await check(chosen, "");
}

async function check(chosen, before) {
  say("asking", `${before} ${word("asking")}`.trim());
  part("allow").hidden = true;
  try {
    const { count } = await ask(chosen, "/count");
    if (!Number.isInteger(count)) throw new TypeError("not a daemon of ours");
    say("connected", `${before} ${word("connected", count)}`.trim());
  } catch (error) {
    say("wrong", `${before} ${reason(error)}`.trim());
    // A browser may keep extensions away from an address until the user allows it.
    part("allow").hidden = error instanceof Refused || (await allowed(chosen.address));
  }
}

function reason(error) {
  if (!(error instanceof Refused)) return word("problem_away");
  if (error.status === 401) return word("problem_token");
  return word("problem_refused", error.message);
}

const origins = (address) => {
  const url = new URL(address);
  return { origins: [`${url.protocol}//${url.hostname}/*`] };
};

function allowed(address) {
  return browser.permissions.contains(origins(address));
}

async function allow() {
  const chosen = typed();
  if (chosen && (await browser.permissions.request(origins(chosen.address)))) {
    await check(chosen, "");
  }
}

start();
