// The graph: memories and their typed relations, to be searched, filtered and walked through.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "../api";
import type { GraphAnswer, Shown } from "../graph/model";
import { palette } from "../graph/palette";
import { Chosen } from "../graph/chosen";
import { Finder } from "../graph/finder";
import { Legend } from "../graph/legend";
import { GraphView } from "../graph/view";
import { onChange } from "../live";
import { change, openMemory, route } from "../route";
import { explained } from "../ui/toast";
import { Icon } from "../ui/icons";
import { graph as words } from "../words/graph";
import { shell } from "../words/shell";

const MOST = 5_000;
const PAUSE_MS = 1_500;
const SURROUNDINGS = 2;
const EVERYTHING: Shown = {
  hiddenTypes: new Set(),
  hiddenKinds: new Set(),
  tag: "",
  linkedOnly: false,
  around: null,
};

export default function GraphScreen() {
  const { node = "", near = "" } = route.value.params;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<GraphView | null>(null);
  const [answer, setAnswer] = useState<GraphAnswer | null>(null);
  const [all, setAll] = useState(0);
  const [failure, setFailure] = useState("");
  const [drawable, setDrawable] = useState(true);
  const [settled, setSettled] = useState(false);
  const [seen, setSeen] = useState<number | null>(null);
  const [filter, setFilter] = useState<Shown>(EVERYTHING);
  const shown = useMemo(
    () => ({ ...filter, around: near && node ? { id: node, hops: SURROUNDINGS } : null }),
    [filter, near, node],
  );
  const colours = palette.value;
  const chosen = useRef(node);
  chosen.current = node;

  useEffect(() => {
    try {
      view.current = new GraphView(place.current!, palette.peek(), EVERYTHING, {
        // A second tap on the same memory opens it.
        onNode: (id) => (chosen.current === id ? openMemory(id) : change({ node: id })),
        onOpen: openMemory,
        onNothing: () => chosen.current && change({ node: "", near: "" }),
        onSettled: setSettled,
      });
    } catch {
      setDrawable(false);
    }
    let waiting = 0;
    const read = (): Promise<void> =>
      Promise.all([get<GraphAnswer>("/graph", { limit: MOST }), get<{ count: number }>("/count")]).then(
        ([found, { count }]) => {
          setFailure("");
          setAll(count);
          setAnswer(found);
        },
        (why) => setFailure(explained(why)),
      );
    void read();
    const stop = onChange(() => {
      clearTimeout(waiting);
      waiting = window.setTimeout(read, PAUSE_MS);
    });
    return () => {
      stop();
      clearTimeout(waiting);
      view.current?.end();
      view.current = null;
    };
  }, []);

  useEffect(() => {
    if (!answer || !view.current) return;
    view.current.update(answer);
    view.current.choose(node || null);
    if (node) view.current.goTo(node);
  }, [answer]);
  useEffect(() => {
    if (!answer || !view.current) return;
    view.current.show(shown);
    setSeen(view.current.count);
  }, [shown, answer]);
  useEffect(() => view.current?.choose(node || null), [node]);
  useEffect(() => view.current?.paint(colours), [colours]);

  const choose = (id: string): void => {
    change({ node: id });
    view.current?.goTo(id);
  };
  const leave = (event: KeyboardEvent): void => {
    if (event.key !== "Escape" || !node || route.value.params.memory) return;
    change({ node: "", near: "" });
  };
  const nodes = answer?.nodes.length ?? 0;
  const edges = answer?.edges.length ?? 0;
  return (
    <div class="graph" onKeyDown={leave}>
      <h1 class="unseen">{shell("graph")}</h1>
      <div class="graph-bar">
        <Finder answer={answer} choose={choose} />
        <p class="soft" role="status">
          {answer &&
            (seen !== null && seen < nodes
              ? words("countsOf", { shown: seen, nodes, edges })
              : words("counts", { nodes, edges }))}
          {answer && drawable && !settled && nodes > 0 && ` · ${words("settling")}`}
        </p>
      </div>
      {failure && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      {!drawable && <p class="notice">{words("noWebgl")}</p>}
      {nodes === MOST && all > MOST && <p class="soft">{words("newest", { n: MOST, all })}</p>}
      {answer && nodes === 0 && <p class="empty">{words("nothing")}</p>}
      <div class="graph-both">
        <div class="graph-field" hidden={!drawable}>
          <div
            class="graph-canvas"
            ref={place}
            role="img"
            aria-label={words("picture", { nodes, edges })}
            data-settled={settled}
          />
          <div class="graph-zoom">
            <button type="button" aria-label={words("larger")} onClick={() => view.current?.zoom(1 / 1.6)}>
              <Icon name="plus" />
            </button>
            <button type="button" aria-label={words("smaller")} onClick={() => view.current?.zoom(1.6)}>
              <span aria-hidden="true">−</span>
            </button>
            <button type="button" onClick={() => view.current?.showAll()}>
              {words("all")}
            </button>
          </div>
        </div>
        {node && answer && (
          <Chosen id={node} answer={answer} near={Boolean(near)} colours={colours} choose={choose} />
        )}
      </div>
      <Legend answer={answer} shown={filter} change={setFilter} colours={colours} />
    </div>
  );
}
