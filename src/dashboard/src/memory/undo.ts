// Takes back what was just done to a memory.

import { get, post } from "../api";
import type { Write } from "../types";
import { failed, toast } from "../ui/toast";
import { shell } from "../words/shell";

/** Says that something is done, and offers to take back the memory's last write. */
export async function doneWithUndo(id: string, text: string): Promise<void> {
  let last: Write | undefined;
  try {
    last = (await get<{ writes: Write[] }>("/history", { id, n: 1 })).writes[0];
  } catch {
    // Said without the offer.
  }
  const n = last?.undone === false ? last.n : null;
  toast(text, n === null ? {} : { action: { label: shell("undo"), run: () => void undo(n) } });
}

export async function undo(n: number): Promise<void> {
  try {
    await post("/undo", { n });
    toast(shell("undone"));
  } catch (error) {
    failed(error);
  }
}
