// Everything that outlives the popup: the queue, the context menu and the keyboard shortcut.

import { compose, isWebPage } from "./compose.js";
import { readPage } from "./page.js";
import { capture, drop, isSendAlarm, retry, send, waiting } from "./queue.js";
import { browser, settings } from "./settings.js";

const FLASH_MS = 3000;

browser.runtime.onInstalled.addListener(async ({ reason }) => {
  await makeMenus();
  if (reason === "install" && !(await settings()).token) await browser.runtime.openOptionsPage();
});
browser.runtime.onStartup.addListener(send);
browser.alarms.onAlarm.addListener((alarm) => {
  if (isSendAlarm(alarm)) send();
});
browser.storage.onChanged.addListener((changes, area) => {
  if (area === "local" && ("address" in changes || "token" in changes)) send();
});

browser.runtime.onMessage.addListener((message, _sender, answer) => {
  const action = ACTIONS[message?.do];
  if (!action) return false;
  action(message).then(answer, (error) =>
    answer({ state: "failed", message: String(error?.message ?? error) }),
  );
  return true; // the answer comes later
});

const ACTIONS = {
  capture: ({ content, title }) => capture(content, title),
  send: () => send(),
  retry: ({ key }) => retry(key),
  drop: ({ key }) => drop(key),
  waiting: () => waiting(),
};

/** A phone's browser has no context menu, and no shortcuts. */
async function makeMenus() {
  if (!browser.contextMenus) return;
  await browser.contextMenus.removeAll();
  const web = ["http://*/*", "https://*/*", "file:///*"];
  for (const id of ["page", "selection", "link"]) {
    browser.contextMenus.create({
      id,
      title: browser.i18n.getMessage(`menu_${id}`),
      contexts: [id],
      documentUrlPatterns: web,
    });
  }
}

browser.contextMenus?.onClicked.addListener(async (info, tab) => {
  if (info.menuItemId === "link") {
    const title = info.linkText || info.selectionText || info.linkUrl;
    await captureShown({ title, url: info.linkUrl });
    return;
  }
  const marks = info.menuItemId === "selection";
  const page = await read(tab, { withText: !marks, frameId: marks ? info.frameId : 0 });
  // The menu's own copy of the selection has lost its line ends, but is there on every page.
  const selection = marks ? page.selection || info.selectionText : "";
  // Of a frame it is the page around it that is remembered.
  await captureShown({ ...page, title: tab.title, url: info.pageUrl || tab.url, selection });
});

browser.commands?.onCommand.addListener(async (command, tab) => {
  if (command !== "quick-capture") return;
  const chosen = tab ?? (await browser.tabs.query({ active: true, currentWindow: true }))[0];
  const { withText } = await settings();
  const page = await read(chosen, { withText });
  await captureShown({ ...page, text: page.selection ? "" : page.text });
});

/** What is on a page; its title and address alone where the browser lets nobody look. */
async function read(tab, { withText, frameId = 0 }) {
  const known = { title: tab.title ?? "", url: tab.url ?? "", selection: "", text: "" };
  try {
    const [{ result }] = await browser.scripting.executeScript({
      target: { tabId: tab.id, frameIds: [frameId ?? 0] },
      func: readPage,
      args: [withText],
    });
    return result ?? known;
  } catch {
    return known;
  }
}

/** Capture without a popup: the button says for a moment what became of it. */
async function captureShown(page) {
  if (!isWebPage(page.url)) return flash("–", "#5d5a69");
  let result;
  try {
    result = await capture(compose(page), page.title);
  } catch {
    result = { state: "failed" };
  }
  if (result.state === "failed" || result.state === "refused") return flash("!", "#b3261e");
  if (result.state === "waiting") return undefined; // the badge counts it
  return flash(result.state === "duplicate" ? "=" : "✓", "#2e7d32");
}

async function flash(text, color) {
  await browser.action.setBadgeBackgroundColor({ color });
  await browser.action.setBadgeText({ text });
  await new Promise((done) => setTimeout(done, FLASH_MS));
  const count = (await waiting()).length;
  await browser.action.setBadgeBackgroundColor({ color: "#8a5a00" });
  await browser.action.setBadgeText({ text: count ? String(count) : "" });
}
