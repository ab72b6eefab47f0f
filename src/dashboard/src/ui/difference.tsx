// Two texts as one: lines that are gone with −, new ones with +.

import { useEffect, useState } from "preact/hooks";
import { memory } from "../words/memory";
import { shell } from "../words/shell";

interface Part {
  value: string;
  added?: boolean;
  removed?: boolean;
}

const CONTEXT = 3;
const MOST = 400_000;

export function Difference({ before, after }: { before: string; after: string }) {
  const [parts, setParts] = useState<Part[] | null>(null);
  useEffect(() => {
    void import("diff").then(({ diffLines }) =>
      setParts(diffLines(before.slice(0, MOST), after.slice(0, MOST), { timeout: 2_000 }) ?? []),
    );
  }, [before, after]);
  if (!parts) return <p class="soft">{shell("loading")}</p>;
  if (!parts.some((part) => part.added || part.removed)) return <p class="soft">{memory("same")}</p>;
  return (
    <pre class="difference" tabIndex={0} dir="auto">
      {parts.map((part, i) => {
        const lines = part.value.replace(/\n$/, "").split("\n");
        if (part.added) return <ins key={i}>{lines.map((line) => `+ ${line}\n`)}</ins>;
        if (part.removed) return <del key={i}>{lines.map((line) => `− ${line}\n`)}</del>;
        return <span key={i}>{shortened(lines, i === 0, i === parts.length - 1)}</span>;
      })}
    </pre>
  );
}

/** Of what is in both, only the lines beside a change. */
function shortened(lines: string[], first: boolean, last: boolean): string {
  const head = first ? [] : lines.slice(0, CONTEXT);
  const tail = last ? [] : lines.slice(-CONTEXT);
  const all = lines.length > head.length + tail.length;
  const shown = all ? [...head, "…", ...tail] : lines;
  return shown.map((line) => (line === "…" ? "  …\n" : `  ${line}\n`)).join("");
}
