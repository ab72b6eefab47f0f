// Two memories side by side, and the ways to decide between them.

import { useState } from "preact/hooks";
import { post } from "../api";
import { Badges } from "../memory/badges";
import { doneWithUndo, undo } from "../memory/undo";
import { memoryAddress } from "../route";
import { useBusy } from "../ui/busy";
import { Difference } from "../ui/difference";
import { Markdown } from "../ui/markdown";
import { failed, toast } from "../ui/toast";
import { review as words } from "../words/review";
import { shell } from "../words/shell";
import type { Decision, Pair, Side } from "./data";

/** Found by rules, and judged by a model. */
const KINDS = {
  value: "value",
  denial: "denial",
  contained: "contained",
  similar: "similar",
  contradiction: "judgedContradiction",
  replace: "judgedReplace",
  merge: "judgedMerge",
} as const;
const BY_RULE = new Set(["rules", "likeness"]);

interface Props {
  pair: Pair;
  done: () => void;
}

export function PairCard({ pair, done }: Props) {
  const [comparing, setComparing] = useState(false);
  const busy = useBusy();
  const kind = KINDS[pair.kind as keyof typeof KINDS] as (typeof KINDS)[keyof typeof KINDS] | undefined;

  const decide = (decision: Decision, winner: string | null = null): Promise<void> =>
    busy.run(async () => {
      const made = await post<{ writes: number[] }>(`/review/${pair.id}`, { decision, winner });
      const last = made.writes.at(-1);
      toast(
        words("decided"),
        last === undefined
          ? {}
          : { action: { label: shell("undo"), run: () => void undo(last).then(done) } },
      );
      done();
    }).catch(failed);
  const forget = (side: Side): Promise<void> =>
    busy.run(async () => {
      await post("/forget", { id: side.id });
      done();
      await doneWithUndo(side.id, words("forgotten"));
    }).catch(failed);

  const suggested = (decision: Decision, winner?: Side): boolean =>
    pair.suggestion === decision && (!winner || winner === pair.newcomer);
  const label = (text: string, on: boolean): string => (on ? `${text} (${words("suggested")})` : text);
  return (
    <li class="card pair" aria-busy={busy.now}>
      <p class="pair-why">
        <strong>{kind ? words(kind) : pair.kind}</strong> <span dir="auto">{pair.reason}</span>{" "}
        <span class="soft">
          {pair.score > 0 && words("score", { n: Math.round(pair.score) })}
          {!BY_RULE.has(pair.found_by) && ` · ${words("foundByModel", { name: pair.found_by })}`}
        </span>
      </p>
      <div class="sides">
        {([pair.known, pair.newcomer] as const).map((side) => (
          <article key={side.id} aria-label={side === pair.known ? words("known") : words("newcomer")}>
            <p class="soft">{side === pair.known ? words("known") : words("newcomer")}</p>
            <h3>
              <a class="title" href={memoryAddress(side.id)} dir="auto">
                {side.title || shell("untitled")}
              </a>
            </h3>
            <div class="passage" tabIndex={0} role="group" aria-label={side.title || shell("untitled")}>
              <Markdown text={side.content} path={side.path} images={false} title={side.title} />
            </div>
            <Badges {...side} created={side.created_at} />
            <div class="row">
              <button
                type="button"
                class={suggested("replace", side) ? "primary" : ""}
                disabled={busy.now}
                title={words("keepOneHint")}
                onClick={() => void decide("replace", side.id)}
              >
                {label(words("keepOne"), suggested("replace", side))}
              </button>
              <button type="button" class="danger" disabled={busy.now} onClick={() => void forget(side)}>
                {words("forgetOne")}
              </button>
            </div>
          </article>
        ))}
      </div>
      {pair.merged && (
        <details>
          <summary>{words("mergedText")}</summary>
          <Markdown text={pair.merged} images={false} />
        </details>
      )}
      {comparing && <Difference before={pair.known.content} after={pair.newcomer.content} />}
      <div class="row">
        <button
          type="button"
          class={suggested("keep") ? "primary" : ""}
          disabled={busy.now}
          onClick={() => void decide("keep")}
        >
          {label(words("keepBoth"), suggested("keep"))}
        </button>
        <button
          type="button"
          class={suggested("merge") ? "primary" : ""}
          disabled={busy.now}
          title={words("mergeHint")}
          onClick={() => void decide("merge")}
        >
          {label(words("merge"), suggested("merge"))}
        </button>
        <button type="button" disabled={busy.now} onClick={() => void decide("dismiss")}>
          {label(words("dismiss"), suggested("dismiss"))}
        </button>
        <button
          type="button"
          class="plain"
          aria-expanded={comparing}
          onClick={() => setComparing(!comparing)}
        >
          {words("compare")}
        </button>
      </div>
    </li>
  );
}
