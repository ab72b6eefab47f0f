// What ends the writing of a text: save it, or leave; and that the note is being waited for.

import type { Busy } from "../ui/busy";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";

interface Props {
  busy: Busy;
  /** What saving is called here. */
  label: string;
  empty: boolean;
  leave: () => void;
}

export function SaveRow({ busy, label, empty, leave }: Props) {
  return (
    <div class="row">
      <button type="submit" class="primary" disabled={busy.now || empty}>
        {busy.now ? word("saving") : label}
      </button>
      <button type="button" onClick={leave}>
        {shell("cancel")}
      </button>
      {busy.long && (
        <span class="soft" role="status">
          {word("waiting")}
        </span>
      )}
    </div>
  );
}
