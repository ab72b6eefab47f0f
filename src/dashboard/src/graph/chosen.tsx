// The memory that is chosen in the graph, and what it is linked to.

import { useMemo } from "preact/hooks";
import { change, memoryAddress } from "../route";
import { Icon } from "../ui/icons";
import { graph as words } from "../words/graph";
import { shell } from "../words/shell";
import { Dot, Line } from "./legend";
import { kindOf, neighbours } from "./model";
import type { GraphAnswer } from "./model";
import type { Palette } from "./palette";

interface Props {
  id: string;
  answer: GraphAnswer;
  near: boolean;
  colours: Palette;
  choose: (id: string) => void;
}

export function Chosen({ id, answer, near, colours, choose }: Props) {
  const node = useMemo(() => answer.nodes.find((one) => one.id === id), [answer, id]);
  const links = useMemo(() => neighbours(answer, id), [answer, id]);
  if (!node) return null;
  return (
    <aside class="graph-chosen card" aria-label={words("selected")}>
      <header>
        <h2>
          <Dot colour={colours.kinds[kindOf(node)]!} /> <bdi>{node.label || shell("untitled")}</bdi>
        </h2>
        <button
          type="button"
          class="plain small"
          aria-label={words("unchoose")}
          onClick={() => change({ node: "", near: "" })}
        >
          <Icon name="close" size={18} />
        </button>
      </header>
      <p class="row">
        <a class="out" href={memoryAddress(id)}>
          {words("open")}
        </a>
        <label class="check">
          <input
            type="checkbox"
            checked={near}
            onChange={(event) => change({ near: event.currentTarget.checked ? "1" : "" }, true)}
          />
          {words("around")}
        </label>
      </p>
      <p class="soft">{links.length ? words("linked", { n: links.length }) : words("unlinked")}</p>
      <ul class="graph-links">
        {links.map((link) => (
          <li key={`${link.type} ${link.direction} ${link.id}`}>
            <span class="soft">
              <Line colour={colours.types[link.type]!} />{" "}
              {words(link.direction === "out" ? link.type : `${link.type}_in`)}
            </span>{" "}
            <button type="button" class="plain" onClick={() => choose(link.id)}>
              <bdi>{link.label || shell("untitled")}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </aside>
  );
}
