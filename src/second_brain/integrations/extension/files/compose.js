// The text of a memory: title and address, then what was marked, noted and read.

const LONGEST_TEXT = 200_000;

/**
 * `<title>\n<url>`, and below it the selection, the note with its #hashtags, the page's text.
 * Away from the web a note stands alone.
 */
export function compose({ title, url, selection, note, text }) {
  const parts = [];
  if (isWebPage(url)) parts.push(`${oneLine(title) || url}\n${url}`);
  if (selection?.trim()) parts.push(`Highlighted: "${selection.trim()}"`);
  if (note?.trim()) parts.push(note.trim());
  if (text?.trim()) parts.push(shortened(text.trim()));
  return parts.join("\n\n");
}

export function isWebPage(url) {
  return /^(https?|file|ftp):/.test(url ?? "");
}

/** What to search related memories by: what was marked, else the title without the site's name. */
export function question({ title, selection }) {
  const marked = oneLine(selection);
  return (marked.length >= 12 ? marked : oneLine(title)).slice(0, 500);
}

export function oneLine(text) {
  return (text ?? "").replace(/\s+/g, " ").trim();
}

function shortened(text) {
  if (text.length <= LONGEST_TEXT) return text;
  // Not in the middle of an emoji.
  const cut = text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, "");
  return `${cut}\n\n[…]`;
}
