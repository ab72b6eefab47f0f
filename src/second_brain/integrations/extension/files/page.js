// Runs inside the page: reads its title, address, selection and main text.

/**
 * Injected as it stands, so it uses nothing from outside itself. The text comes as Markdown in
 * which the page can make no tags, links, comments or HTML of its own.
 */
export function readPage(withText) {
  const SKIPPED = [
    "script, style, noscript, template, svg, canvas, iframe, object, video, audio, img, picture",
    "nav, aside, footer, dialog, button, select, textarea, input, [hidden], [aria-hidden=true]",
    "[role=navigation], [role=banner], [role=complementary], [role=contentinfo], [role=dialog]",
    "[role=search], [role=menu], [role=toolbar], [role=alert], body > header",
  ].join(", ");
  const APART = new Set(["block", "flex", "grid", "list-item", "table", "flow-root"]);

  const length = (element) => element.innerText?.trim().length ?? 0;

  /** The element that holds the text proper. */
  function mainElement() {
    const body = document.body;
    const main = document.querySelector("main, [role=main], [itemprop=articleBody]");
    const place = main && length(main) > 0 ? main : body;
    const articles = [...place.querySelectorAll("article")];
    const longest = articles.sort((a, b) => length(b) - length(a))[0];
    if (longest && length(longest) > 0.5 * length(place)) return longest;
    return place === body ? densest(body) : place;
  }

  /** Where no landmark says so: what holds most of the page's paragraphs. */
  function densest(body) {
    const scores = new Map();
    for (const block of body.querySelectorAll("p, pre, blockquote, li")) {
      const size = block.textContent.trim().length;
      if (size < 60 || block.closest(SKIPPED)) continue;
      let share = size;
      for (let up = block.parentElement, n = 0; up && up !== body && n < 3; n += 1) {
        scores.set(up, (scores.get(up) ?? 0) + share);
        share /= 2;
        up = up.parentElement;
      }
    }
    const [best, score] = [...scores].sort((a, b) => b[1] - a[1])[0] ?? [body, 0];
    const all = [...body.querySelectorAll("p")].reduce((n, p) => n + p.textContent.length, 0);
    return score > 0.5 * all ? best : body;
  }

  /** Text that Obsidian shows as it is. */
  const plain = (text) =>
    text
      .replace(/(^|\s)#(?=\S)/g, "$1\\#")
      .replace(/\[\[/g, "\\[\\[")
      .replace(/%%/g, "\\%\\%")
      .replace(/<(?=[a-z/!?])/gi, "\\<");

  const tidy = (text) =>
    text
      .replace(/[ \t\f\v\u00a0]+/g, " ")
      .replace(/ ?\n ?/g, "\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();

  function fenced(code) {
    const ticks = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length)) + 1;
    const fence = "`".repeat(ticks);
    return `\n\n${fence}\n${code.replace(/\s+$/, "")}\n${fence}\n\n`;
  }

  const codes = [];

  /** An element's Markdown; code is put aside, for its white space counts. */
  function markdown(node) {
    if (node.nodeType === Node.TEXT_NODE) return plain(node.data.replace(/\s+/g, " "));
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches(SKIPPED)) return "";
    const style = getComputedStyle(node);
    if (style.display === "none" || style.visibility === "hidden") return "";
    const name = node.localName;
    if (name === "br") return "\n";
    if (name === "hr") return "\n\n";
    if (name === "pre") return `\n\n\u0000${codes.push(fenced(node.textContent)) - 1}\u0000\n\n`;
    const inner = [...(node.shadowRoot ?? node).childNodes].map(markdown).join("");
    const heading = /^h([1-6])$/.exec(name);
    if (heading) {
      const text = tidy(inner).replace(/\n+/g, " ");
      return text ? `\n\n${"#".repeat(Math.max(2, Number(heading[1])))} ${text}\n\n` : "";
    }
    if (name === "li") {
      const list = node.parentElement;
      const place = list?.localName === "ol" ? [...list.children].indexOf(node) + 1 : 0;
      const mark = place ? `${place}. ` : "- ";
      return `\n${mark}${tidy(inner).replace(/\n+/g, `\n${" ".repeat(mark.length)}`)}\n`;
    }
    if (name === "blockquote") return `\n\n> ${tidy(inner).replace(/\n/g, "\n> ")}\n\n`;
    if (name === "td" || name === "th") return `${tidy(inner).replace(/\n+/g, " ")} | `;
    if (name === "tr") return `\n${inner.replace(/ \| $/, "")}\n`;
    return name === "p" || APART.has(style.display) ? `\n\n${inner}\n\n` : inner;
  }

  function text() {
    // A tab in which the browser shows a document that is no web page.
    if (!document.body || !/html|xml|text\/plain/.test(document.contentType)) return "";
    const found = tidy(markdown(mainElement()).replaceAll("\n- \n", "\n"));
    return found.replace(/\u0000(\d+)\u0000/g, (_, n) => codes[n].trim());
  }

  return {
    title: document.title,
    url: location.href,
    selection: String(getSelection() ?? ""),
    text: withText ? text() : "",
  };
}
