// Puts the words of the browser's language into a page of ours.

import { browser } from "./settings.js";

export function word(name, ...values) {
  return browser.i18n.getMessage(name, values.map(String));
}

export function fillIn(page = document) {
  page.documentElement.lang = word("language");
  for (const element of page.querySelectorAll("[data-word]")) {
    element.textContent = word(element.dataset.word);
  }
  for (const element of page.querySelectorAll("[data-placeholder]")) {
    element.placeholder = word(element.dataset.placeholder);
  }
}
