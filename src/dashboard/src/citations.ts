// The citations of an answer: `[id, id]` after a sentence, and at the end a list of the memories.

import type { Link } from "./types";

export interface Cited {
  /** Markdown, in which each citation is a wiki-link to one of `links`. */
  text: string;
  links: Link[];
  sources: { id: string; title: string }[];
}

const LIST = /\n\nSources:\n((?:- .*\n?)*)/;
const MARK = /\s?\[([^[\]\n]{1,2000})\]/g;

/** `known` are the titles of the memories that were found, by their ids. */
export function cited(answer: string, known: ReadonlyMap<string, string>): Cited {
  const titles = new Map(known);
  const plain = answer.replace(LIST, (_, list: string) => {
    for (const [, title, id] of list.matchAll(/^- (.*) \[([^[\]\n]+)\]$/gm)) titles.set(id!, title!);
    return "";
  });
  const order: string[] = [];
  const text = plain.replace(MARK, (whole, inside: string) => {
    const ids = inside.split(",").map((id) => id.trim());
    if (!ids.every((id) => titles.has(id))) return whole;
    return ids
      .map((id) => {
        if (!order.includes(id)) order.push(id);
        return ` [[${place(id)}|${order.indexOf(id) + 1}]]`;
      })
      .join("");
  });
  const none = { path: "", type: "", label: "", direction: "out", provenance: "" } as const;
  const links = order.map((id) => ({ ...none, id, title: place(id) }));
  return { text, links, sources: order.map((id) => ({ id, title: titles.get(id)! })) };
}

/** A name that no note has: a colon is in none. */
function place(id: string): string {
  return `cited:${id}`;
}
