// Edits the text of a memory. It is saved only over the text that it was made from; where the note
// says something else by now, both are shown, and the user decides.

import { useState } from "preact/hooks";
import { ApiError, get, post } from "../api";
import type { Whole } from "../types";
import { useBusy } from "../ui/busy";
import { Composer } from "../ui/composer";
import { Difference } from "../ui/difference";
import { failed } from "../ui/toast";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";
import { SaveRow } from "./save-row";
import { doneWithUndo } from "./undo";

interface Props {
  memory: Whole;
  dirty: (yes: boolean) => void;
  done: () => void;
}

export function Editor({ memory, dirty, done }: Props) {
  // What the text was made from; `memory` itself follows the vault.
  const [base, setBase] = useState(memory);
  const [text, setText] = useState(memory.content);
  const [theirs, setTheirs] = useState<Whole | null>(null);
  const busy = useBusy();

  const change = (value: string): void => {
    setText(value);
    dirty(value !== base.content);
  };

  const save = (over: Whole): Promise<void> =>
    busy.run(async () => {
      try {
        await post("/update", { id: memory.id, content: text, base: over.version });
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 409)) return failed(error);
        const now = await get<Whole>("/get", { id: memory.id });
        // Refused for another reason than a newer text.
        if (now.version === over.version) return failed(error);
        setTheirs(now);
        return undefined;
      }
      dirty(false);
      done();
      return doneWithUndo(memory.id, word("saved"));
    }).catch(failed);

  if (theirs)
    return (
      <section class="conflict" role="alertdialog" aria-labelledby="conflict">
        <h3 id="conflict">{word("conflict")}</h3>
        <p>{word("conflictText")}</p>
        <Difference before={theirs.content} after={text} />
        <div class="row">
          <button
            type="button"
            class="primary"
            onClick={() => {
              dirty(false);
              done();
            }}
          >
            {word("takeTheirs")}
          </button>
          <button
            type="button"
            onClick={() => {
              setBase(theirs);
              setTheirs(null);
            }}
          >
            {word("mergeMine")}
          </button>
          <button type="button" class="danger" disabled={busy.now} onClick={() => void save(theirs)}>
            {word("saveMine")}
          </button>
        </div>
      </section>
    );

  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(base);
      }}
    >
      {memory.version !== base.version && (
        <p class="notice" role="status">
          {word("changedNow")}
        </p>
      )}
      <Composer
        label={word("editing")}
        value={text}
        change={change}
        submit={() => void save(base)}
        rows={16}
        path={memory.path}
        links={memory.links}
        autofocus
      />
      <SaveRow
        busy={busy}
        label={shell("save")}
        empty={!text.trim()}
        leave={() => {
          dirty(false);
          done();
        }}
      />
    </form>
  );
}
