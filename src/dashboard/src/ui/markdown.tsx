// Shows Markdown of a memory: elements are made one by one, and no text is ever taken for HTML.

import type { ComponentChildren, JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Node, parse } from "../markdown";
import { address, memoryAddress } from "../route";
import type { Link } from "../types";
import { content } from "../words/content";
import { IMAGE, VaultImage } from "./vault-image";

interface Context {
  /** The note's path, from which its links are read. */
  path: string;
  links: readonly Link[];
  words: RegExp | null;
  images: boolean;
}

interface Props {
  text: string;
  path?: string;
  links?: readonly Link[];
  /** Marks the words of a question. */
  query?: string;
  images?: boolean;
  /** Stands above already: a first heading that says the same is left out. */
  title?: string;
}

/** More than this would keep the page busy: the rest is shown as it is written, on request. */
const LONG = 40_000;
const OUTSIDE = /^(https?|mailto|obsidian):/i;

export function Markdown({ text, path = "", links = [], query = "", images = true, title = "" }: Props) {
  const [whole, setWhole] = useState(false);
  const long = text.length > LONG;
  const nodes = useMemo(() => {
    const all = parse(text.slice(0, LONG));
    const first = all[0];
    const repeats = first?.type === "heading" && first.children[0]?.text.trim() === title;
    return repeats ? all.slice(1) : all;
  }, [text, title]);
  const words = useMemo(() => wordsOf(query), [query]);
  const context: Context = { path, links, words, images };
  return (
    <div class="markdown" dir="auto">
      {nodes.map((node, i) => block(node, i, context))}
      {long && !whole && (
        <button type="button" onClick={() => setWhole(true)}>
          {content("showRest", { n: text.length - LONG })}
        </button>
      )}
      {long && whole && (
        <pre tabIndex={0} dir="auto" class="rest">
          {text.slice(LONG)}
        </pre>
      )}
    </div>
  );
}

// So frequent that a mark on them says nothing.
const FREQUENT = new Set(
  (
    "the and for was were are has have had not this that with from what which who whom when where why how " +
    "did does can could should would will you your our their its les des une est sont dans pour sur avec " +
    "que qui quoi quel quelle quels quelles comment pourquoi mon mes ton ses nos vos leur elle nous vous ils"
  ).split(" "),
);

function wordsOf(query: string): RegExp | null {
  const found = query.match(/[\p{L}\p{N}\p{M}]{3,}/gu) ?? [];
  const words = found.filter((word) => !FREQUENT.has(word.toLocaleLowerCase()));
  return words.length ? new RegExp(`(${words.slice(0, 20).join("|")})`, "giu") : null;
}

function many(nodes: Node[], context: Context): ComponentChildren[] {
  return nodes.map((node, i) => block(node, i, context));
}

const BLOCKS = new Set(["blockquote", "bullet_list", "list_item", "table", "thead", "tbody", "tr"]);

function block(node: Node, key: number, context: Context): ComponentChildren {
  const inside = () => many(node.children, context);
  switch (node.type) {
    case "inline":
    case "tight":
      return <span key={key}>{inside()}</span>;
    case "paragraph":
      return (
        <p key={key} dir="auto">
          {inside()}
        </p>
      );
    case "heading": {
      // Below the title of the memory.
      const Tag = `h${Math.min(6, Number(node.tag[1]) + 2)}` as "h3";
      return (
        <Tag key={key} class={`h${node.tag[1]}`} dir="auto">
          {inside()}
        </Tag>
      );
    }
    case "th":
    case "td": {
      const Tag = node.type;
      return (
        <Tag key={key} dir="auto">
          {inside()}
        </Tag>
      );
    }
    case "ordered_list":
      return (
        <ol key={key} start={Number(node.attrs.start ?? 1)}>
          {inside()}
        </ol>
      );
    case "fence":
    case "code_block":
      return (
        <pre key={key} tabIndex={0} dir="ltr">
          <code>{node.text}</code>
        </pre>
      );
    case "hr":
      return <hr key={key} />;
  }
  if (BLOCKS.has(node.type)) {
    const Tag = node.tag as "ul";
    const made = <Tag key={key}>{inside()}</Tag>;
    return node.type === "table" ? (
      <div key={key} class="table" tabIndex={0} role="group" aria-label={content("table")}>
        {made}
      </div>
    ) : (
      made
    );
  }
  return inline(node, key, context);
}

function inline(node: Node, key: number, context: Context): ComponentChildren {
  const inside = () => many(node.children, context);
  switch (node.type) {
    case "text":
      // A block's name for links (`^name`) is no part of what it says.
      return marked(node.text.replace(/\s\^[\w-]+$/, ""), context.words);
    case "softbreak":
      // Obsidian breaks the line; a passage flows.
      return context.images ? <br key={key} /> : " ";
    case "hardbreak":
      return <br key={key} />;
    case "code_inline":
      return <code key={key}>{marked(node.text, context.words)}</code>;
    case "strong":
    case "em":
    case "s": {
      const Tag = node.tag as "strong";
      return <Tag key={key}>{inside()}</Tag>;
    }
    case "marked":
      return <mark key={key}>{node.text}</mark>;
    case "tag":
      return <TagLink key={key} tag={node.text} />;
    case "wiki":
      return <WikiLink key={key} target={node.text} label={node.info} links={context.links} />;
    case "embed":
      if (IMAGE.test(node.text)) return image(node.text, node.info, key, context);
      return <WikiLink key={key} target={node.text} label={node.info} links={context.links} />;
    case "link":
      return outside(node.attrs.href ?? "", inside(), key, context);
    case "image": {
      const source = decoded(node.attrs.src ?? "");
      const name = node.children.map((c) => c.text).join("") || source;
      return OUTSIDE.test(source)
        ? outside(source, `🖼 ${name}`, key, context)
        : image(source, name, key, context);
    }
    default:
      return node.children.length ? <span key={key}>{inside()}</span> : node.text;
  }
}

function image(target: string, label: string, key: number, context: Context): ComponentChildren {
  if (!context.images) return <span key={key}>🖼 {label || target}</span>;
  // `|300` after the target is a width, and no description.
  const name = /^\d+(x\d+)?$/.test(label) ? "" : label;
  return <VaultImage key={key} target={target} from={context.path} label={name || target} />;
}

function outside(
  href: string,
  children: ComponentChildren,
  key: number,
  context: Context,
): JSX.Element {
  if (OUTSIDE.test(href))
    return (
      <a key={key} href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    );
  return (
    <WikiLink key={key} target={decoded(href)} links={context.links}>
      {children}
    </WikiLink>
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function marked(text: string, words: RegExp | null): ComponentChildren {
  if (!words) return text;
  return text.split(words).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part));
}

/** To the memory that is meant where it is one, else to a search for its name. */
function WikiLink(props: {
  target: string;
  label?: string;
  links: readonly Link[];
  children?: ComponentChildren;
}) {
  const [path = "", ...heading] = props.target.split("#");
  const name = path.replace(/\.md$/i, "").split("/").at(-1)!.trim();
  const wanted = name.toLocaleLowerCase();
  const found = props.links.find(
    (l) => stem(l.path) === wanted || l.title.toLocaleLowerCase() === wanted,
  );
  const text = props.children ?? (props.label || props.target);
  if (found)
    return (
      <a class="wiki" href={memoryAddress(found.id)}>
        {text}
      </a>
    );
  if (!name) return <HeadingLink heading={heading.join("#")}>{text}</HeadingLink>;
  return (
    <a class="wiki unknown" href={address("recall", { q: [name, ...heading].join(" ") })}>
      {text}
    </a>
  );
}

/** To a heading of the same memory; a block's name leads nowhere here. */
function HeadingLink({ heading, children }: { heading: string; children: ComponentChildren }) {
  function jump(event: MouseEvent): void {
    const all = (event.currentTarget as HTMLElement).closest(".markdown")?.querySelectorAll("h3, h4, h5, h6");
    const wanted = heading.split("#").at(-1)!.trim().toLocaleLowerCase();
    const found = [...(all ?? [])].find((h) => h.textContent?.trim().toLocaleLowerCase() === wanted);
    found?.scrollIntoView({ block: "start", behavior: "smooth" });
  }
  if (heading.startsWith("^")) return <span>{children}</span>;
  return (
    <button type="button" class="wiki" onClick={jump}>
      {children}
    </button>
  );
}

function stem(path: string): string {
  return path.split("/").at(-1)!.replace(/\.md$/i, "").toLocaleLowerCase();
}

export function TagLink({ tag }: { tag: string }) {
  return (
    <a class="tag" href={address("recent", { tag })}>
      <bdi>#{tag}</bdi>
    </a>
  );
}
