// Where the nodes go, worked out beside the page: ForceAtlas2, some steps at a time. A bundle of
// its own, because the page's policy allows workers from files of ours alone.

import iterate from "graphology-layout-forceatlas2/iterate.js";

export interface LayoutTask {
  /** As graphology-layout-forceatlas2 has them: ten numbers a node, three an edge. */
  nodes: Float32Array;
  edges: Float32Array;
  settings: object;
  /** Steps after which it is good enough, and milliseconds after which it has to be. */
  steps: number;
  most: number;
}

export interface LayoutNews {
  /** x and y of each node. */
  places: Float32Array;
  done: boolean;
}

const PER_NODE = 10;
const NEWS_MS = 120;

const own = self as unknown as {
  onmessage: (event: MessageEvent<LayoutTask>) => void;
  postMessage: (news: LayoutNews, transfer: Transferable[]) => void;
};

own.onmessage = ({ data: { nodes, edges, settings, steps, most } }) => {
  const began = performance.now();
  let told = began;
  for (let step = 1; step <= steps; step += 1) {
    iterate(settings, nodes, edges);
    const now = performance.now();
    if (now - began > most) break;
    if (now - told < NEWS_MS || step === steps) continue;
    told = now;
    tell(nodes, false);
  }
  tell(nodes, true);
};

function tell(nodes: Float32Array, done: boolean): void {
  const places = new Float32Array((nodes.length / PER_NODE) * 2);
  for (let n = 0; n < places.length / 2; n += 1) {
    places[2 * n] = nodes[n * PER_NODE]!;
    places[2 * n + 1] = nodes[n * PER_NODE + 1]!;
  }
  own.postMessage({ places, done }, [places.buffer]);
}
