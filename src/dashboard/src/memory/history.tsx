// What clients wrote to a memory: when, by whom, what changed, and taking it back.

import { useEffect, useState } from "preact/hooks";
import { get } from "../api";
import type { Write } from "../types";
import { ago, exact, iso } from "../ui/dates";
import { Difference } from "../ui/difference";
import { Icon } from "../ui/icons";
import { explained } from "../ui/toast";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";
import { undo } from "./undo";

const SHOWN = 50;

interface Side {
  content: string | null;
  encoding: string | null;
}

/** `version` changes when the memory has: the history is read again. */
export function History({ id, version }: { id: string; version: unknown }) {
  const [writes, setWrites] = useState<Write[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [count, setCount] = useState(0);
  useEffect(() => {
    get<{ writes: Write[] }>("/history", { id, n: SHOWN }).then(
      (answer) => setWrites(answer.writes),
      (why) => setError(explained(why)),
    );
  }, [id, version, count]);
  return (
    <section aria-labelledby="panel-history">
      <h3 id="panel-history">{word("history")}</h3>
      {error && <p class="problem">{error}</p>}
      {writes?.length === 0 && <p class="soft">{word("noHistory")}</p>}
      <ol class="history">
        {writes?.map((write) => (
          <li key={write.n}>
            <div class="row">
              <time dateTime={iso(write.at)} title={exact(write.at)}>
                {ago(write.at)}
              </time>
              <span dir="auto">{write.summary}</span>
              <span class="soft">
                <bdi>{word("by", { client: write.client })}</bdi>
              </span>
              {write.undone ? (
                <span class="soft">({word("wasUndone")})</span>
              ) : (
                <button
                  type="button"
                  class="plain small"
                  aria-label={word("undoThis", { summary: write.summary })}
                  onClick={() => void undo(write.n).then(() => setCount((n) => n + 1))}
                >
                  <Icon name="undo" size={16} />
                  {shell("undo")}
                </button>
              )}
            </div>
            <Changed n={write.n} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Changed({ n }: { n: number }) {
  const [sides, setSides] = useState<[string, string] | null>(null);
  const [error, setError] = useState<string | null>(null);
  async function load(): Promise<void> {
    if (sides) return;
    try {
      const [before, after] = await Promise.all(
        ["before", "after"].map((side) => get<Side>("/history/content", { n, side })),
      );
      setSides([text(before!), text(after!)]);
    } catch (why) {
      setError(explained(why));
    }
  }
  return (
    <details onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>{word("show")}</summary>
      {error && <p class="problem">{error}</p>}
      {sides && <Difference before={sides[0]} after={sides[1]} />}
    </details>
  );
}

function text(side: Side): string {
  return side.encoding === "base64" ? atob(side.content ?? "") : (side.content ?? "");
}
