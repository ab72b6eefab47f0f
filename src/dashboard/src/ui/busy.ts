// A call that is under way: its button waits, and after a while the user is told why.

import { useState } from "preact/hooks";

export interface Busy {
  now: boolean;
  /** It takes longer than a write usually does: the note is being given time to settle. */
  long: boolean;
  run: (work: () => Promise<void>) => Promise<void>;
}

const LONG_MS = 1_200;

export function useBusy(): Busy {
  const [now, setNow] = useState(false);
  const [long, setLong] = useState(false);
  async function run(work: () => Promise<void>): Promise<void> {
    if (now) return;
    setNow(true);
    const timer = setTimeout(() => setLong(true), LONG_MS);
    try {
      await work();
    } finally {
      clearTimeout(timer);
      setLong(false);
      setNow(false);
    }
  }
  return { now, long, run };
}
