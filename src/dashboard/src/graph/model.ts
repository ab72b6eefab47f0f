// The graph as data: what the daemon sends, what is shown of it, what lies around a node.

import Graph from "graphology";
import type { Kind, Relation, Status } from "../types";

export interface Node {
  id: string;
  label: string;
  tags: string[];
  kind: Kind | null;
  status: Status | null;
  importance: number | null;
  created_at: number;
}

export interface Edge {
  source: string;
  target: string;
  type: Relation;
  weight: number;
}

export interface GraphAnswer {
  nodes: Node[];
  edges: Edge[];
}

/** Unset means all. `around` leaves only what is that near to a node. */
export interface Shown {
  hiddenTypes: ReadonlySet<string>;
  hiddenKinds: ReadonlySet<string>;
  tag: string;
  linkedOnly: boolean;
  around: { id: string; hops: number } | null;
}

export interface NodeAttributes extends Node {
  x: number;
  y: number;
  size: number;
}

export type MemoryGraph = Graph<NodeAttributes, Edge>;

export interface Neighbour {
  id: string;
  label: string;
  type: Relation;
  direction: "out" | "in";
}

/** The name of a memory's kind in filters and colours. */
export const kindOf = (node: { kind: Kind | null }): string => node.kind ?? "none";

/**
 * Brings `graph` to what the daemon says now. What was there stays where it is; what is new starts
 * beside something that it is linked to. Says whether anything but a text has changed.
 */
export function merge(graph: MemoryGraph, answer: GraphAnswer): boolean {
  let changed = false;
  const known = new Set(answer.nodes.map((node) => node.id));
  for (const id of graph.nodes())
    if (!known.has(id)) {
      graph.dropNode(id);
      changed = true;
    }
  const wanted = new Map(answer.edges.map((edge) => [edgeKey(edge), edge]));
  for (const key of graph.edges()) 
    if (!wanted.has(key)) {
      graph.dropEdge(key);
      changed = true;
    }
  const partner = new Map<string, string>();
  for (const { source, target } of answer.edges) {
    if (graph.hasNode(source)) partner.set(target, source);
    if (graph.hasNode(target)) partner.set(source, target);
  }
  answer.nodes.forEach((node, place) => {
    if (graph.hasNode(node.id)) {
      graph.mergeNodeAttributes(node.id, node);
      return;
    }
    changed = true;
    const near = partner.get(node.id);
    const at = near && graph.hasNode(near) ? graph.getNodeAttributes(near) : null;
    graph.addNode(node.id, { ...node, ...(at ? beside(at, place) : onSpiral(place)), size: 1 });
  });
  for (const [key, edge] of wanted)
    if (!graph.hasEdge(key)) {
      graph.addEdgeWithKey(key, edge.source, edge.target, edge);
      changed = true;
    }
  const scale = graph.order > 1_000 ? 0.45 : 1;
  graph.updateEachNodeAttributes((id, attributes) => {
    attributes.size = scale * (2.5 + Math.min(12, 1.4 * Math.sqrt(graph.degree(id))));
    return attributes;
  });
  return changed;
}

const edgeKey = (edge: Edge): string => `${edge.source} ${edge.type} ${edge.target}`;

/** The seeds of a sunflower: evenly spread, and the same at every visit. */
function onSpiral(place: number): { x: number; y: number } {
  const radius = 10 * Math.sqrt(place + 1);
  const angle = place * 2.399963;
  return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
}

function beside(at: { x: number; y: number }, place: number): { x: number; y: number } {
  return { x: at.x + 4 * Math.cos(place), y: at.y + 4 * Math.sin(place) };
}

/** The nodes at most `hops` steps from `id`, over relations that are shown. */
export function around(graph: MemoryGraph, id: string, hops: number, hidden: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  if (!graph.hasNode(id)) return found;
  found.add(id);
  let front = [id];
  for (let n = 0; n < hops; n += 1) {
    const next: string[] = [];
    for (const node of front)
      graph.forEachEdge(node, (_key, edge) => {
        if (hidden.has(edge.type)) return;
        const other = edge.source === node ? edge.target : edge.source;
        if (found.has(other)) return;
        found.add(other);
        next.push(other);
      });
    front = next;
  }
  return found;
}

/** The nodes that are to be seen. */
export function visible(graph: MemoryGraph, shown: Shown): Set<string> {
  const within = shown.around ? around(graph, shown.around.id, shown.around.hops, shown.hiddenTypes) : null;
  const found = new Set<string>();
  graph.forEachNode((id, node) => {
    if (within && !within.has(id)) return;
    if (shown.hiddenKinds.has(kindOf(node))) return;
    if (shown.tag && !node.tags.some((tag) => tag === shown.tag || tag.startsWith(`${shown.tag}/`))) return;
    found.add(id);
  });
  if (!shown.linkedOnly) return found;
  return new Set(
    [...found].filter((id) =>
      graph.someEdge(
        id,
        (_key, edge) => !shown.hiddenTypes.has(edge.type) && found.has(edge.source) && found.has(edge.target),
      ),
    ),
  );
}

/** What a memory is linked to. */
export function neighbours(answer: GraphAnswer, id: string): Neighbour[] {
  const labels = new Map(answer.nodes.map((node) => [node.id, node.label]));
  const found: Neighbour[] = [];
  for (const edge of answer.edges) {
    if (edge.source !== id && edge.target !== id) continue;
    const out = edge.source === id;
    const other = out ? edge.target : edge.source;
    const label = labels.get(other);
    if (label !== undefined) found.push({ id: other, label, type: edge.type, direction: out ? "out" : "in" });
  }
  return found.sort((a, b) => a.type.localeCompare(b.type) || a.label.localeCompare(b.label));
}

const plain = (text: string): string =>
  text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The memories whose name holds the words: first those that begin with them, then the newest. */
export function search(answer: GraphAnswer, text: string, most: number): Node[] {
  const words = plain(text).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const found = answer.nodes.filter((node) => {
    const label = plain(node.label);
    return words.every((word) => label.includes(word));
  });
  const first = (node: Node): number => (plain(node.label).startsWith(words[0]!) ? 0 : 1);
  return found.sort((a, b) => first(a) - first(b) || b.created_at - a.created_at).slice(0, most);
}
