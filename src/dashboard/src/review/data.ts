// What waits for the user's decision, from the several places where the daemon keeps it.

import { get } from "../api";
import type { Entry, Health, Problem, Status } from "../types";

export interface Side extends Entry {
  status: Status | null;
  importance: number | null;
}

export type Decision = "keep" | "replace" | "merge" | "dismiss";

export interface Pair {
  id: number;
  kind: string;
  suggestion: Decision;
  reason: string;
  found_by: string;
  score: number;
  newcomer: Side;
  known: Side;
  merged: string | null;
}

export interface LooseLink {
  id: string;
  title: string;
  path: string;
  url: string;
  target: string;
  type: string;
  property: string | null;
}

export interface Waiting {
  duplicates: Pair[];
  contradictions: Pair[];
  patterns: Entry[];
  drafts: Entry[];
  loose: LooseLink[];
  looseTotal: number;
  problems: Problem[];
}

/** In /list the tags are JSON in a string. */
type Listed = Omit<Entry, "tags"> & { tags: string };

const MOST = 100;
const PATTERN_TAG = "auto-pattern";
/** What says the same twice; anything else may not both hold. */
const ALIKE = new Set(["similar", "contained", "merge"]);

export async function waiting(): Promise<Waiting> {
  const [pairs, drafts, loose, health] = await Promise.all([
    get<{ items: Pair[] }>("/review", { n: MOST }),
    get<Listed[]>("/list", { status: "draft", n: MOST }),
    get<{ total: number; links: LooseLink[] }>("/unresolved", { n: MOST }),
    get<Health>("/health"),
  ]);
  const entries = drafts.map((entry): Entry => ({ ...entry, tags: JSON.parse(entry.tags) as string[] }));
  const isPattern = (entry: Entry): boolean => entry.tags.includes(PATTERN_TAG);
  return {
    duplicates: pairs.items.filter((pair) => ALIKE.has(pair.kind)),
    contradictions: pairs.items.filter((pair) => !ALIKE.has(pair.kind)),
    patterns: entries.filter(isPattern),
    drafts: entries.filter((entry) => !isPattern(entry)),
    loose: loose.links,
    looseTotal: loose.total,
    problems: health.problems,
  };
}
