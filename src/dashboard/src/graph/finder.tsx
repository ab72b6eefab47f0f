// A field that finds memories of the graph by their names: type, arrows, enter.

import { useId, useMemo, useState } from "preact/hooks";
import { graph as words } from "../words/graph";
import { shell } from "../words/shell";
import { search } from "./model";
import type { GraphAnswer } from "./model";

const MOST = 8;

interface Props {
  answer: GraphAnswer | null;
  choose: (id: string) => void;
}

export function Finder({ answer, choose }: Props) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const [place, setPlace] = useState(0);
  const list = useId();
  const found = useMemo(() => (answer ? search(answer, text, MOST) : []), [answer, text]);

  const take = (n: number): void => {
    const one = found[n];
    if (!one) return;
    setText(one.label);
    setOpen(false);
    choose(one.id);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setPlace(Math.min(place + 1, found.length - 1));
    else if (event.key === "ArrowUp") setPlace(Math.max(place - 1, 0));
    else if (event.key === "Enter") take(place);
    else if (event.key === "Escape" && open) setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const shown = open && text.trim() !== "";
  return (
    <div class="finder">
      <input
        id="search"
        type="text"
        enterkeyhint="search"
        role="combobox"
        autocomplete="off"
        placeholder={words("search")}
        aria-label={words("search")}
        aria-expanded={shown && found.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={shown && found.length ? `${list}-${place}` : undefined}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setPlace(0);
          setOpen(true);
        }}
        onKeyDown={onKey}
        onBlur={() => setOpen(false)}
      />
      <ul id={list} role="listbox" aria-label={words("search")} hidden={!shown || !found.length}>
        {found.map((one, n) => (
          <li
            key={one.id}
            id={`${list}-${n}`}
            role="option"
            aria-selected={n === place}
            // Before the field loses the focus.
            onPointerDown={(event) => {
              event.preventDefault();
              take(n);
            }}
          >
            <bdi>{one.label || shell("untitled")}</bdi>
          </li>
        ))}
      </ul>
      <p class="unseen" role="status">
        {shown && (found.length ? words("found", { n: found.length }) : words("notFound"))}
      </p>
      {shown && !found.length && <p class="soft finder-none">{words("notFound")}</p>}
    </div>
  );
}
