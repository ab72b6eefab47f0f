// The daemon's answers, as /openapi.json describes them; only what the page reads.

export type Kind = "episodic" | "semantic";
export type Status = "canonical" | "draft" | "deprecated";
export const KINDS: readonly Kind[] = ["semantic", "episodic"];
export const STATUSES: readonly Status[] = ["canonical", "draft", "deprecated"];
export const RELATIONS = [
  "relates_to",
  "supersedes",
  "caused_by",
  "decided",
  "about_person",
  "part_of_project",
  "follows",
] as const;
export type Relation = (typeof RELATIONS)[number];

export interface Entry {
  id: string;
  content: string;
  tags: string[];
  source: string;
  created_at: number;
  title: string;
  path: string;
  url: string;
}

export interface Hit extends Entry {
  score: number;
  updated: number;
  hop: number;
  heading: string;
  passage: string;
  date: string;
  kind: Kind | null;
  status: Status | null;
  explain?: Record<string, number | string>;
}

export interface Recalled {
  results: Hit[];
  insight: string | null;
  query_used: string;
  semantic_unavailable: boolean;
  message?: string;
  notice?: string;
}

export interface Link {
  id: string;
  title: string;
  path: string;
  type: string;
  label: string;
  direction: "out" | "in";
  provenance: string;
}

export interface Whole extends Entry {
  kind: Kind | null;
  status: Status | null;
  importance: number | null;
  updated: number;
  version: string;
  links: Link[];
}

export interface Write {
  n: number;
  id: string;
  path: string;
  at: number;
  client: string;
  tool: string;
  summary: string;
  undone: boolean;
}

export interface Problem {
  kind: string;
  path: string | null;
  message: string;
  hint: string;
}

export interface Health {
  ok: boolean;
  version: string;
  vault: {
    ok: boolean;
    path: string;
    notes: number;
    memories: number;
    watching: boolean;
    offline: string | null;
    rule?: Rule;
  };
  index: {
    ok: boolean;
    state: string;
    scanning: boolean;
    rebuilding: boolean;
    pending: number;
    rows: number;
    disk_bytes: number;
    progress?: { done: number; total: number };
    last_error: string | null;
  };
  embedding: { ok: boolean; state: string; model: string; dimension: number | null; notice: string | null };
  llm?: {
    configured: boolean;
    ok: boolean;
    model?: string;
    error?: string | null;
    calls_today?: number;
    calls_a_day?: number;
  };
  problems: Problem[];
}

export interface Rule {
  mode: string;
  tags: string[];
  exclude: string[];
  templates: string[];
  ignored: string[];
}

export interface Change {
  type: "created" | "updated" | "deleted" | "renamed" | "problem";
  id: string | null;
  path: string | null;
  at: number | null;
}

export interface Client {
  id: string;
  name: string;
  registered_at: number;
  logins: number;
  last_used: number | null;
}
