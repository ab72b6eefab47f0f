// What the colours mean; each entry shows or hides what it stands for.

import { useMemo } from "preact/hooks";
import { RELATIONS } from "../types";
import { graph as words } from "../words/graph";
import { kindOf } from "./model";
import type { GraphAnswer, Shown } from "./model";
import type { Palette } from "./palette";

const KINDS = ["semantic", "episodic", "none"] as const;

interface Props {
  answer: GraphAnswer | null;
  shown: Shown;
  change: (shown: Shown) => void;
  colours: Palette;
}

export function Legend({ answer, shown, change, colours }: Props) {
  const { types, kinds, tags } = useMemo(() => count(answer), [answer]);
  const flip = (of: ReadonlySet<string>, name: string): Set<string> => {
    const next = new Set(of);
    if (!next.delete(name)) next.add(name);
    return next;
  };
  return (
    <div class="legend" role="group" aria-label={words("filters")}>
      <fieldset>
        <legend>{words("kinds")}</legend>
        {KINDS.filter((kind) => kinds.get(kind)).map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={!shown.hiddenKinds.has(kind)}
              onChange={() => change({ ...shown, hiddenKinds: flip(shown.hiddenKinds, kind) })}
            />
            <Dot colour={colours.kinds[kind]!} />
            {words(kind)} <span class="soft">{kinds.get(kind)}</span>
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>{words("relations")}</legend>
        {RELATIONS.filter((type) => types.get(type)).map((type) => (
          <label key={type}>
            <input
              type="checkbox"
              checked={!shown.hiddenTypes.has(type)}
              onChange={() => change({ ...shown, hiddenTypes: flip(shown.hiddenTypes, type) })}
            />
            <Line colour={colours.types[type]!} />
            {words(type)} <span class="soft">{types.get(type)}</span>
          </label>
        ))}
      </fieldset>
      <div class="legend-more">
        <label>
          <span>{words("tag")}</span>
          <select value={shown.tag} onChange={(event) => change({ ...shown, tag: event.currentTarget.value })}>
            <option value="">{words("allTags")}</option>
            {tags.map((tag) => (
              <option key={tag} value={tag}>
                {tag}
              </option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={shown.linkedOnly}
            onChange={() => change({ ...shown, linkedOnly: !shown.linkedOnly })}
          />
          {words("linkedOnly")}
        </label>
      </div>
    </div>
  );
}

function count(answer: GraphAnswer | null) {
  const types = new Map<string, number>();
  const kinds = new Map<string, number>();
  const tags = new Set<string>();
  for (const edge of answer?.edges ?? []) types.set(edge.type, (types.get(edge.type) ?? 0) + 1);
  for (const node of answer?.nodes ?? []) {
    kinds.set(kindOf(node), (kinds.get(kindOf(node)) ?? 0) + 1);
    for (const tag of node.tags) tags.add(tag);
  }
  return { types, kinds, tags: [...tags].sort((a, b) => a.localeCompare(b)) };
}

export function Dot({ colour }: { colour: string }) {
  return (
    <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <circle cx="7" cy="7" r="5.5" fill={colour} />
    </svg>
  );
}

export function Line({ colour }: { colour: string }) {
  return (
    <svg width="20" height="14" viewBox="0 0 20 14" aria-hidden="true">
      <path d="M1 7h18" stroke={colour} stroke-width="3" />
    </svg>
  );
}
