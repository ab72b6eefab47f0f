// Reads Markdown as Obsidian writes it into tokens; never HTML: what looks like it stays text.

import MarkdownIt from "markdown-it";

export interface Node {
  type: string;
  tag: string;
  text: string;
  info: string;
  attrs: Record<string, string>;
  children: Node[];
}

const md = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: 40 });
md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

const TAG = /^#([\p{L}\p{N}\p{M}_/-]+)/u;

/** The hashtags of a text, without #; not those of code. */
export function hashtags(text: string): string[] {
  const found: string[] = [];
  const walk = (nodes: Node[]): void => {
    for (const node of nodes) {
      if (node.type === "tag") found.push(node.text);
      walk(node.children);
    }
  };
  walk(parse(text));
  return [...new Set(found)];
}

type State = {
  src: string;
  pos: number;
  posMax: number;
  push: (type: string, tag: string, nesting: -1 | 0 | 1) => { content: string; info: string };
};

function wikiLink(state: State, silent: boolean): boolean {
  const embed = state.src.startsWith("![[", state.pos);
  if (!embed && !state.src.startsWith("[[", state.pos)) return false;
  const start = state.pos + (embed ? 3 : 2);
  const end = state.src.indexOf("]]", start);
  const inside = end < 0 ? "" : state.src.slice(start, end);
  if (!inside.trim() || inside.includes("\n") || inside.includes("[[") || end > state.posMax) return false;
  if (!silent) {
    const token = state.push(embed ? "embed" : "wiki", "", 0);
    const [target = "", ...rest] = inside.replaceAll("\\|", "|").split("|");
    token.content = target.trim();
    token.info = rest.join("|").trim();
  }
  state.pos = end + 2;
  return true;
}

function hashtag(state: State, silent: boolean): boolean {
  if (state.src[state.pos] !== "#") return false;
  if (state.pos > 0 && !/[\s(]/u.test(state.src[state.pos - 1]!)) return false;
  const found = TAG.exec(state.src.slice(state.pos, state.pos + 200));
  if (!found || /^[\p{N}]+$/u.test(found[1]!)) return false;
  if (!silent) state.push("tag", "", 0).content = found[1]!;
  state.pos += found[0].length;
  return true;
}

function highlight(state: State, silent: boolean): boolean {
  if (!state.src.startsWith("==", state.pos)) return false;
  const end = state.src.indexOf("==", state.pos + 2);
  const inside = end < 0 ? "" : state.src.slice(state.pos + 2, end);
  if (!inside.trim() || inside.includes("\n") || end > state.posMax) return false;
  if (!silent) state.push("marked", "", 0).content = inside;
  state.pos = end + 2;
  return true;
}

md.inline.ruler.before("link", "wiki", wikiLink as never);
md.inline.ruler.before("link", "tag", hashtag as never);
md.inline.ruler.before("link", "marked", highlight as never);

interface Token {
  type: string;
  tag: string;
  nesting: number;
  content: string;
  info: string;
  hidden: boolean;
  attrs: [string, string][] | null;
  children: Token[] | null;
}

/** The text as a tree. */
export function parse(text: string): Node[] {
  return tree(md.parse(text, {}) as Token[]);
}

function tree(tokens: Token[]): Node[] {
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const token of tokens) {
    if (token.nesting < 0) {
      if (open.length > 1) open.pop();
      continue;
    }
    const node: Node = {
      type: token.hidden ? "tight" : token.type.replace(/_open$/, ""),
      tag: token.tag,
      text: token.content,
      info: token.info,
      attrs: Object.fromEntries(token.attrs ?? []),
      children: token.children ? tree(token.children) : [],
    };
    open.at(-1)!.push(node);
    if (token.nesting > 0) open.push(node.children);
  }
  return root;
}
