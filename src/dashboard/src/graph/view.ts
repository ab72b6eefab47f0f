// The drawing: sigma on WebGL, and the layout's worker. Knows nothing of the page around it.

import Graph from "graphology";
import helpers from "graphology-layout-forceatlas2/helpers.js";
import { inferSettings } from "graphology-layout-forceatlas2";
import Sigma from "sigma";
import type { LayoutNews, LayoutTask } from "./layout-worker";
import { around, kindOf, merge, visible } from "./model";
import type { Edge, GraphAnswer, MemoryGraph, NodeAttributes, Shown } from "./model";
import type { Palette } from "./palette";

const FEW_NODES = 300;
const FEW_EDGES = 3_000;
const MANY_EDGES = 12_000;
const STEPS = 400;
const MOST_MS = 15_000;
const MOVE_MS = 300;
const LONGEST_NAME = 42;

export interface ViewEvents {
  onNode: (id: string) => void;
  onOpen: (id: string) => void;
  onNothing: () => void;
  onSettled: (settled: boolean) => void;
}

export class GraphView {
  private graph: MemoryGraph = empty();
  private readonly sigma: Sigma<NodeAttributes, Edge>;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  private worker: Worker | null = null;
  private selected: string | null = null;
  private hovered: string | null = null;
  private near = new Set<string>();
  private seen: ReadonlySet<string> = new Set();
  private shown: Shown;
  private wanted: string | null = null;
  private frame = 0;

  constructor(
    place: HTMLElement,
    private colours: Palette,
    shown: Shown,
    private readonly events: ViewEvents,
  ) {
    this.shown = shown;
    this.sigma = new Sigma<NodeAttributes, Edge>(this.graph, place, {
      allowInvalidContainer: true,
      defaultEdgeType: "line",
      labelFont: "system-ui, sans-serif",
      labelSize: 13,
      labelDensity: 0.6,
      zIndex: true,
      defaultDrawNodeHover: (context, node, settings) => this.drawName(context, node, settings),
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      nodeReducer: (id, node) => this.drawnNode(id, node),
      edgeReducer: (_key, edge) => this.drawnEdge(edge),
    });
    this.sigma.on("clickNode", ({ node }) => this.events.onNode(node));
    this.sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      this.events.onOpen(node);
    });
    this.sigma.on("clickStage", () => this.events.onNothing());
    this.sigma.on("enterNode", ({ node }) => this.hover(node));
    this.sigma.on("leaveNode", () => this.hover(null));
    this.paint(colours);
  }

  /** Takes what the daemon says now; works out new places where something was added or dropped. */
  update(answer: GraphAnswer): void {
    const first = this.graph.order === 0;
    // Sigma looks at each addition to the graph that it draws, but at a new graph once.
    const graph = first ? empty() : this.graph;
    const changed = merge(graph, answer);
    this.graph = graph;
    this.seen = visible(graph, this.shown);
    // All at once, and before sigma has the graph: each setting has it look at everything again.
    this.sigma.setSettings({
      hideEdgesOnMove: this.many,
      hideLabelsOnMove: this.many,
      // Names of all in a small graph, of the well linked ones in a large.
      labelRenderedSizeThreshold: graph.order <= FEW_NODES ? 3 : 7,
      defaultEdgeType: graph.size <= FEW_EDGES ? "arrow" : "line",
    });
    if (first) this.sigma.setGraph(graph);
    this.choose(this.selected);
    if (changed) this.layOut(first ? STEPS : STEPS / 4);
  }

  paint(colours: Palette): void {
    this.colours = colours;
    this.sigma.setSetting("labelColor", { color: colours.ink });
    this.redraw();
  }

  show(shown: Shown): void {
    this.shown = shown;
    this.seen = visible(this.graph, shown);
    this.choose(this.selected);
  }

  /** How many nodes are to be seen. */
  get count(): number {
    return this.seen.size;
  }

  /** Lets a node and what it is linked to stand out; null for none. */
  choose(id: string | null): void {
    this.selected = id !== null && this.graph.hasNode(id) ? id : null;
    const middle = this.hovered ?? this.selected;
    this.near = middle ? around(this.graph, middle, 1, this.shown.hiddenTypes) : new Set();
    this.redraw();
  }

  /** Brings a node into the middle, and while the layout goes on keeps it there. */
  goTo(id: string): void {
    if (!this.graph.hasNode(id)) return;
    this.flush();
    this.wanted = this.worker ? id : null;
    const at = this.sigma.getNodeDisplayData(id);
    if (!at) return;
    const camera = this.sigma.getCamera();
    const ratio = Math.min(camera.getState().ratio, this.graph.order > 100 ? 0.25 : 0.6);
    if (this.still) camera.setState({ x: at.x, y: at.y, ratio });
    else void camera.animate({ x: at.x, y: at.y, ratio }, { duration: MOVE_MS });
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    const ratio = camera.getBoundedRatio(camera.getState().ratio * factor);
    if (this.still) camera.setState({ ratio });
    else void camera.animate({ ratio }, { duration: MOVE_MS / 2 });
  }

  showAll(): void {
    this.wanted = null;
    const whole = { x: 0.5, y: 0.5, ratio: 1, angle: 0 };
    if (this.still) this.sigma.getCamera().setState(whole);
    else void this.sigma.getCamera().animate(whole, { duration: MOVE_MS });
  }

  end(): void {
    this.worker?.terminate();
    cancelAnimationFrame(this.frame);
    this.sigma.kill();
  }

  /** Once a frame, however often something has changed. */
  private redraw(): void {
    this.frame ||= requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    if (!this.frame) return;
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.sigma.refresh();
  }

  private get many(): boolean {
    return this.graph.size > MANY_EDGES;
  }

  private hover(id: string | null): void {
    // To draw so much anew at each step of the pointer would stutter: there it only reads the name.
    if (this.many) return;
    this.hovered = id;
    this.choose(this.selected);
  }

  private drawnNode(id: string, node: NodeAttributes): Record<string, unknown> {
    if (!this.seen.has(id)) return { ...node, hidden: true };
    const middle = this.hovered ?? this.selected;
    const far = middle !== null && !this.near.has(id);
    const colour = this.colours.kinds[kindOf(node)]!;
    return {
      x: node.x,
      y: node.y,
      size: id === this.selected ? node.size * 1.5 : node.size,
      label: far ? "" : shortened(node.label),
      color: far || node.status === "deprecated" ? this.colours.faded : colour,
      highlighted: id === this.selected,
      forceLabel: id === middle,
      zIndex: far ? 0 : 1,
    };
  }

  private drawnEdge(edge: Edge): Record<string, unknown> {
    const middle = this.hovered ?? this.selected;
    const hidden = this.shown.hiddenTypes.has(edge.type);
    const far = middle !== null && edge.source !== middle && edge.target !== middle;
    return {
      ...(edge.type === "relates_to" ? { type: "line" } : { type: undefined }),
      hidden: hidden || !this.seen.has(edge.source) || !this.seen.has(edge.target),
      color: far ? this.colours.fadedEdge : this.colours.types[edge.type],
      size: (edge.type === "relates_to" ? 0.8 : 2) * (this.graph.size <= FEW_EDGES ? 1.3 : 0.8),
      zIndex: far ? 0 : 1,
    };
  }

  /** The name of the node under the pointer, on a field of the page's colour. */
  private drawName(
    context: CanvasRenderingContext2D,
    node: { x: number; y: number; size: number; label: string | null; color: string },
    settings: { labelSize: number; labelFont: string },
  ): void {
    const { x, y, size, label } = node;
    const height = settings.labelSize + 8;
    context.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
    context.fillStyle = this.colours.ring;
    context.shadowColor = "rgb(20 10 50 / 0.35)";
    context.shadowBlur = 8;
    context.beginPath();
    context.arc(x, y, size + 3, 0, 2 * Math.PI);
    if (label) context.roundRect(x, y - height / 2, size + 14 + context.measureText(label).width, height, 6);
    context.fill();
    context.shadowBlur = 0;
    context.fillStyle = node.color;
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fill();
    context.fillStyle = this.colours.ink;
    if (label) context.fillText(label, x + size + 5, y + settings.labelSize / 3);
  }

  private layOut(steps: number): void {
    this.worker?.terminate();
    this.worker = null;
    this.events.onSettled(this.graph.order === 0);
    if (this.graph.order === 0) return;
    const { nodes, edges } = helpers.graphToByteArrays(this.graph, (_key, edge) => edge.weight);
    const settings = {
      linLogMode: false,
      outboundAttractionDistribution: false,
      adjustSizes: false,
      edgeWeightInfluence: 1,
      ...inferSettings(this.graph.order),
    };
    const worker = new Worker(LAYOUT_WORKER);
    const order = this.graph.nodes();
    worker.onmessage = ({ data }: MessageEvent<LayoutNews>) => this.take(order, data);
    const task: LayoutTask = { nodes, edges, settings, steps, most: MOST_MS };
    worker.postMessage(task, [nodes.buffer, edges.buffer]);
    this.worker = worker;
  }

  private take(order: readonly string[], { places, done }: LayoutNews): void {
    if (done) {
      this.worker?.terminate();
      this.worker = null;
    }
    // Whoever wants no motion sees the end alone.
    if (!done && this.still) return;
    const place = new Map(order.map((id, n) => [id, n]));
    this.graph.updateEachNodeAttributes(
      (id, node) => {
        const n = place.get(id);
        if (n !== undefined) {
          node.x = places[2 * n]!;
          node.y = places[2 * n + 1]!;
        }
        return node;
      },
      { attributes: ["x", "y"] },
    );
    if (!done) return;
    this.events.onSettled(true);
    if (this.wanted) this.goTo(this.wanted);
  }
}

function shortened(label: string): string {
  return label.length > LONGEST_NAME ? `${label.slice(0, LONGEST_NAME).trimEnd()}…` : label;
}

function empty(): MemoryGraph {
  return new Graph<NodeAttributes, Edge>({ multi: true, type: "directed" });
}
