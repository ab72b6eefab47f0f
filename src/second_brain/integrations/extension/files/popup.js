// The popup: remember this page, see what is known about it, see what still waits.

import { ask, Refused } from "./api.js";
import { compose, isWebPage, question } from "./compose.js";
import { readPage } from "./page.js";
import { browser, saveSettings, settings } from "./settings.js";
import { fillIn, word } from "./words.js";

const MOST_RELATED = 5;
const LEAST_SCORE = 30;
const LONGEST_SHOWN = 300;

const part = (id) => document.getElementById(id);
const show = (id, shown) => (part(id).hidden = !shown);

function make(tag, text, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

let page = { title: "", url: "", selection: "", text: "" };
let chosen;

async function start() {
  fillIn();
  part("note").focus();
  chosen = await settings();
  page = await currentPage();
  showPage();
  part("form").addEventListener("submit", remember);
  part("note").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) part("form").requestSubmit();
  });
  part("with-text").addEventListener("change", (event) => {
    // Beside a selection it is a choice for this once.
    if (!page.selection) saveSettings({ withText: event.target.checked });
  });
  part("settings").addEventListener("click", () => browser.runtime.openOptionsPage());
  part("send").addEventListener("click", sendNow);
  if (!chosen.token) {
    notice(word("no_settings"));
    await showQueue();
    return;
  }
  await Promise.all([showRelated(), sendNow()]);
}

async function currentPage() {
  const [tab] = await browser.tabs.query({ active: true, currentWindow: true });
  const known = { title: tab?.title ?? "", url: tab?.url ?? "", selection: "", text: "" };
  if (!isWebPage(known.url)) return known;
  try {
    const [{ result }] = await browser.scripting.executeScript({
      target: { tabId: tab.id },
      func: readPage,
      args: [true],
    });
    return { ...result, selection: result.selection.trim() };
  } catch {
    notice(word("unreadable"));
    return known;
  }
}

function showPage() {
  const web = isWebPage(page.url);
  part("title").textContent = web ? page.title || page.url : word("a_note");
  part("place").textContent = web ? decodeURI_(page.url) : "";
  show("choices", web);
  show("selection", page.selection);
  show("selection-choice", page.selection);
  part("selection").textContent = cut(page.selection);
  part("with-text").checked = Boolean(page.text) && !page.selection && chosen.withText;
  part("with-text").disabled = !page.text;
}

function decodeURI_(url) {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

function cut(text) {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function notice(text) {
  part("notice").textContent = text;
  show("notice", true);
}

async function remember(event) {
  event.preventDefault();
  const content = compose({
    ...page,
    selection: part("with-selection").checked ? page.selection : "",
    text: part("with-text").checked ? page.text : "",
    note: part("note").value,
  });
  if (!content) {
    part("outcome").textContent = word("nothing_to_remember");
    part("outcome").dataset.state = "nothing";
    part("note").focus();
    return;
  }
  part("remember").disabled = true;
  part("outcome").textContent = word("sending");
  delete part("outcome").dataset.state;
  const result = await tellBackground({ do: "capture", content, title: page.title });
  part("remember").disabled = false;
  part("outcome").textContent = outcomeText(result);
  part("outcome").dataset.state = result.state;
  if (result.state !== "failed" && result.state !== "refused") part("note").value = "";
  await showQueue(result.problem);
}

async function tellBackground(message) {
  const answer = await browser.runtime.sendMessage(message);
  return answer ?? { state: "failed", message: "" };
}

function outcomeText({ state, message, score, path, problem }) {
  if (state === "waiting") return `${word("kept")} ${problemText(problem)}`;
  if (state === "refused" || state === "failed") return `${word(`state_${state}`)} ${message}`;
  const said = word(`state_${state}`, score ?? "") || word("state_stored");
  return path ? `${said} ${path}` : said;
}

function problemText(problem) {
  if (!problem) return "";
  return word(`problem_${problem.kind}`, problem.message ?? "");
}

async function sendNow() {
  const problem = await browser.runtime.sendMessage({ do: "send" });
  await showQueue(problem);
}

async function showQueue(problem) {
  const items = (await browser.runtime.sendMessage({ do: "waiting" })) ?? [];
  show("queue", items.length);
  part("queue-title").textContent = word("waiting", items.length);
  part("problem").textContent = problemText(problem);
  part("items").replaceChildren(...items.map(queued));
}

function queued(item) {
  const row = make("li", "");
  row.append(make("span", cut(item.title || item.content.split("\n", 1)[0]), "name"));
  if (item.refused) {
    row.append(make("span", item.refused, "error"));
    row.append(action("try_again", { do: "retry", key: item.key }));
  }
  row.append(action("drop", { do: "drop", key: item.key }));
  return row;
}

function action(name, message) {
  const button = make("button", word(name), "plain small");
  button.type = "button";
  button.addEventListener("click", async () => {
    button.disabled = true;
    const problem = await browser.runtime.sendMessage(message);
    await showQueue(message.do === "retry" ? problem : undefined);
  });
  return button;
}

async function showRelated() {
  const query = question(page);
  if (!chosen.lookUp || !isWebPage(page.url) || !query) return;
  show("related", true);
  part("related-state").textContent = word("looking");
  let hits;
  try {
    const found = await ask(chosen, "/recall", { query: { query, topK: MOST_RELATED, max_chars: 4000 } });
    hits = found.results.filter((hit) => hit.score >= LEAST_SCORE);
  } catch (error) {
    const kind = !(error instanceof Refused) ? "away" : error.status === 401 ? "token" : "refused";
    part("related-state").textContent = problemText({ kind, message: error.message });
    return;
  }
  part("related-state").textContent = hits.length ? "" : word("nothing_related");
  part("hits").replaceChildren(...hits.map(found));
}

function found(hit) {
  const row = make("li", "");
  const name = make(hit.url ? "a" : "span", hit.title || hit.content.split("\n", 1)[0], "name");
  // Only Obsidian's own addresses are followed.
  if (hit.url?.startsWith("obsidian://")) {
    name.href = hit.url;
    name.target = "_blank";
  }
  row.append(name, make("p", cut(hit.passage || hit.content), "passage"));
  const tags = hit.tags.map((tag) => `#${tag}`).join(" ");
  const date = new Date(hit.created_at).toLocaleDateString(word("language"));
  row.append(make("p", [date, tags].filter(Boolean).join(" · "), "soft"));
  return row;
}

start();
