// Adds to a memory, below what it says.

import { useState } from "preact/hooks";
import { post } from "../api";
import type { Whole } from "../types";
import { useBusy } from "../ui/busy";
import { Composer } from "../ui/composer";
import { failed } from "../ui/toast";
import { memory as word } from "../words/memory";
import { SaveRow } from "./save-row";
import { doneWithUndo } from "./undo";

interface Props {
  memory: Whole;
  dirty: (yes: boolean) => void;
  done: () => void;
}

export function Appender({ memory, dirty, done }: Props) {
  const [text, setText] = useState("");
  const busy = useBusy();
  const save = (): Promise<void> =>
    busy.run(async () => {
      if (!text.trim()) return;
      await post("/append", { id: memory.id, addition: text });
      dirty(false);
      done();
      await doneWithUndo(memory.id, word("appended"));
    }).catch(failed);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Composer
        label={word("appending")}
        value={text}
        change={(value) => {
          setText(value);
          dirty(value.trim() !== "");
        }}
        submit={() => void save()}
        rows={6}
        path={memory.path}
        autofocus
      />
      <p class="soft">{word("appendHint")}</p>
      <SaveRow
        busy={busy}
        label={word("append")}
        empty={!text.trim()}
        leave={() => {
          dirty(false);
          done();
        }}
      />
    </form>
  );
}
