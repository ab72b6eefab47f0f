// The newest memories, page by page: only the pages near what is shown are kept.

import { get } from "../api";
import type { Kind, Status } from "../types";

export const PAGE = 50;
const KEPT = 12;
const EXCERPT = 320;

/** A memory as a list shows it: not its whole text, so that thousands are light. */
export interface Row {
  id: string;
  title: string;
  excerpt: string;
  tags: string[];
  source: string;
  created: number;
  kind: Kind | null;
  status: Status | null;
}

export interface Wanted {
  tag: string;
  kind: string;
  status: string;
  after: number | undefined;
  before: number | undefined;
}

interface Listed {
  id: string;
  title: string;
  content: string;
  tags: string;
  source: string;
  created_at: number;
  kind: Kind | null;
  status: Status | null;
}

export class Pages {
  /** How many there are, as far as is known. */
  total = 0;
  /** Whether `total` is all, or there may be more below. */
  complete = false;
  failed = false;
  private pages = new Map<number, Row[]>();
  private asked = new Map<number, AbortController>();

  constructor(
    private readonly wanted: Wanted,
    private readonly changed: () => void,
  ) {}

  private get filtered(): boolean {
    const { tag, kind, status, after, before } = this.wanted;
    return Boolean(tag || kind || status || after !== undefined || before !== undefined);
  }

  row(place: number): Row | undefined {
    return this.pages.get(Math.floor(place / PAGE))?.[place % PAGE];
  }

  /** Reads what is missing of the rows from `first` to `last`, and lets go of what is far away. */
  show(first: number, last: number): void {
    const from = Math.floor(Math.max(0, first) / PAGE);
    const to = Math.floor(Math.max(0, last) / PAGE);
    for (const [page, stop] of this.asked)
      if (page < from - 1 || page > to + 1) {
        stop.abort();
        this.asked.delete(page);
      }
    for (let page = from; page <= to; page++)
      if (!this.pages.has(page) && !this.asked.has(page)) void this.read(page);
    if (this.pages.size > KEPT) {
      const middle = (from + to) / 2;
      const far = [...this.pages.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
      for (const page of far.slice(0, this.pages.size - KEPT)) this.pages.delete(page);
    }
  }

  /** Everything may be different: what is shown is read again, in the place of the old. */
  async renew(first: number, last: number): Promise<void> {
    for (const stop of this.asked.values()) stop.abort();
    this.asked.clear();
    const from = Math.floor(Math.max(0, first) / PAGE);
    const to = Math.floor(Math.max(0, last) / PAGE);
    for (const page of [...this.pages.keys()]) if (page < from || page > to) this.pages.delete(page);
    this.complete = false;
    if (!this.filtered) await this.count();
    await Promise.all(Array.from({ length: to - from + 1 }, (_, i) => this.read(from + i)));
  }

  async count(): Promise<void> {
    if (this.filtered) return;
    try {
      this.total = (await get<{ count: number }>("/count")).count;
      this.complete = true;
    } catch {
      return; // the pages say what is amiss
    }
    this.changed();
  }

  stop(): void {
    for (const stop of this.asked.values()) stop.abort();
    this.asked.clear();
  }

  private async read(page: number): Promise<void> {
    const stop = new AbortController();
    this.asked.set(page, stop);
    try {
      const query = { n: PAGE, offset: page * PAGE, ...this.wanted };
      const found = await get<Listed[]>("/list", query, stop.signal);
      if (stop.signal.aborted) return;
      this.pages.set(page, found.map(row));
      this.failed = false;
      const end = page * PAGE + found.length;
      if (found.length < PAGE) {
        if (this.filtered || end > this.total || found.length > 0) this.total = end;
        this.complete = true;
      } else if (this.total <= end && !this.complete) this.total = end + (this.filtered ? 1 : 0);
    } catch {
      if (stop.signal.aborted) return;
      this.failed = true;
    } finally {
      if (this.asked.get(page) === stop) this.asked.delete(page);
    }
    this.changed();
  }
}

function row(listed: Listed): Row {
  return {
    id: listed.id,
    title: listed.title,
    excerpt: excerpt(listed.content, listed.title),
    tags: JSON.parse(listed.tags) as string[],
    source: listed.source,
    created: listed.created_at,
    kind: listed.kind,
    status: listed.status,
  };
}

/** The beginning of a text without its marks. */
function excerpt(text: string, title: string): string {
  const plain = text
    .slice(0, EXCERPT * 3)
    .replace(/^#{1,6}\s+(.*)$/m, (whole, heading: string) => (heading.trim() === title ? "" : whole))
    .replace(/!?\[\[([^\]|]*\|)?([^\]]*)\]\]/g, "$2")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/^[\s>#*+-]+|\s\^[\w-]+$|[*_`~=]{2,}|`/gm, "")
    .replace(/\s+/g, " ")
    .trim();
  // A copy: a slice would keep the whole text alive.
  return JSON.parse(JSON.stringify(plain.slice(0, EXCERPT).replace(/[\ud800-\udbff]$/, ""))) as string;
}
