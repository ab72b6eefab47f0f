// Takes over an export of this program: its entries become notes, batch by batch, then its relations.

import { post } from "./api";

interface Exported {
  id: string;
  content: string;
  title?: string;
  tags?: string[];
  source?: string;
  created_at?: number;
  kind?: string | null;
  status?: string | null;
  importance_score?: number;
  recall_count?: number;
  contradiction_wins?: number;
  contradiction_losses?: number;
}

interface ExportedEdge {
  source_id: string;
  target_id: string;
  type: string;
  created_at?: number;
}

interface Place {
  id: string;
  path: string;
  known: boolean;
}

export interface Outcome {
  made: number;
  known: number;
}

const ENTRIES = 50;
const CHARACTERS = 400_000;
const EDGES = 200;

/** The entries of a file, or null for a file that is no export. */
export function readExport(text: string): { entries: Exported[]; edges: ExportedEdge[] } | null {
  try {
    const found = JSON.parse(text) as { entries?: unknown; edges?: unknown };
    if (!Array.isArray(found?.entries)) return null;
    const edges = Array.isArray(found.edges) ? found.edges : [];
    return { entries: found.entries as Exported[], edges: edges as ExportedEdge[] };
  } catch {
    return null;
  }
}

/** Importing twice, or again after a break, makes nothing twice. */
export async function importAll(
  found: { entries: Exported[]; edges: ExportedEdge[] },
  tell: (done: number) => void,
): Promise<Outcome> {
  const ids = new Map<string, string>();
  let made = 0;
  let done = 0;
  for (const batch of batches(found.entries)) {
    const asked = batch.map(({ id, title, content }) => ({ id, title: title || null, content }));
    const { places } = await post<{ places: Place[] }>("/import/places", { entries: asked });
    const fresh = batch.flatMap((entry, i) => {
      const place = places[i]!;
      ids.set(entry.id, place.id);
      return place.known ? [] : [{ ...imported(entry), path: place.path }];
    });
    if (fresh.length)
      made += (await post<{ written: number }>("/import/notes", { entries: fresh })).written;
    done += batch.length;
    tell(done);
  }
  const edges = found.edges.flatMap((edge) => {
    const source = ids.get(edge.source_id);
    const target = ids.get(edge.target_id);
    if (!source || !target || source === target) return [];
    return [{ source, target, type: edge.type, created: edge.created_at ?? null }];
  });
  for (let i = 0; i < edges.length; i += EDGES)
    await post("/import/edges", { edges: edges.slice(i, i + EDGES) });
  return { made, known: found.entries.length - made };
}

function imported(entry: Exported): object {
  return {
    id: entry.id,
    content: entry.content,
    tags: entry.tags ?? [],
    source: entry.source || "import",
    created: entry.created_at ?? null,
    kind: entry.kind ?? null,
    status: entry.status ?? null,
    importance: entry.importance_score ?? 0,
    recall_count: entry.recall_count ?? 0,
    contradiction_wins: entry.contradiction_wins ?? 0,
    contradiction_losses: entry.contradiction_losses ?? 0,
  };
}

function* batches(entries: Exported[]): Generator<Exported[]> {
  let batch: Exported[] = [];
  let size = 0;
  for (const entry of entries) {
    batch.push(entry);
    size += entry.content?.length ?? 0;
    if (batch.length < ENTRIES && size < CHARACTERS) continue;
    yield batch;
    batch = [];
    size = 0;
  }
  if (batch.length) yield batch;
}
