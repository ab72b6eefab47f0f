// A memory on trial, a draft or a pattern: to be taken in or to be dropped.

import { post } from "../api";
import { Badges } from "../memory/badges";
import { doneWithUndo } from "../memory/undo";
import { memoryAddress } from "../route";
import type { Entry } from "../types";
import { useBusy } from "../ui/busy";
import { Markdown } from "../ui/markdown";
import { failed } from "../ui/toast";
import { review as words } from "../words/review";
import { shell } from "../words/shell";

interface Props {
  entry: Entry;
  pattern: boolean;
  done: () => void;
}

export function DraftCard({ entry, pattern, done }: Props) {
  const busy = useBusy();
  const decide = (yes: boolean): Promise<void> =>
    busy.run(async () => {
      const id = entry.id;
      if (pattern) await post("/patterns/resolve", { id, action: yes ? "confirm" : "dismiss" });
      else await post("/status", { id, status: yes ? "canonical" : "deprecated" });
      done();
      const said = pattern ? (["dismissed", "confirmed"] as const) : (["dropped", "accepted"] as const);
      await doneWithUndo(id, words(said[yes ? 1 : 0]));
    }).catch(failed);
  return (
    <li class="card hit" aria-busy={busy.now}>
      <h3>
        <a class="title" href={memoryAddress(entry.id)} dir="auto">
          {entry.title || shell("untitled")}
        </a>
      </h3>
      <div class="passage" tabIndex={0} role="group" aria-label={entry.title || shell("untitled")}>
        <Markdown text={entry.content} path={entry.path} images={false} title={entry.title} />
      </div>
      <Badges {...entry} created={entry.created_at} />
      <div class="row">
        <button type="button" class="primary" disabled={busy.now} onClick={() => void decide(true)}>
          {pattern ? words("confirm") : words("accept")}
        </button>
        <button type="button" disabled={busy.now} onClick={() => void decide(false)}>
          {pattern ? words("dismissPattern") : words("drop")}
        </button>
      </div>
    </li>
  );
}
