// What another application shares with the page, as `/?title=…&text=…&url=…` (a phone's share sheet,
// see app.webmanifest) or as `#/remember?text=…` (the bookmarklet): it waits to be remembered.

import { go, route } from "./route";

/** Leads from the address that a share sheet opens to the screen that takes it. */
export function takeShared(): void {
  const { title, text, url } = Object.fromEntries(new URLSearchParams(location.search));
  if (!title && !text && !url) return;
  // The text is in no address any more once it is on the screen.
  history.replaceState(null, "", location.pathname);
  go("remember", { text: composed(title, text, url) }, true);
}

/** As the bookmarklet has it: the text, a blank line, then title and address. */
export function composed(title = "", text = "", url = ""): string {
  const place = [title.trim(), text.includes(url) ? "" : url.trim()].filter(Boolean).join("\n");
  return [text.trim(), place].filter(Boolean).join("\n\n");
}

/** The text that was shared with the screen Remember, taken out of its address. */
export function sharedText(): string {
  const { text = "" } = route.peek().params;
  if (text) go("remember", {}, true);
  return text;
}
