// Recall: a question, the passages that match, and an answer where a language model is configured.

import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import { onChange } from "../live";
import { Badges } from "../memory/badges";
import { change, memoryAddress, route } from "../route";
import type { Hit, Recalled } from "../types";
import { Filters, span, useTags } from "../ui/filters";
import { Icon } from "../ui/icons";
import { Markdown } from "../ui/markdown";
import { explained } from "../ui/toast";
import { recall } from "../words/recall";
import { shell } from "../words/shell";
import { Answer } from "./answer";

const MOST = 20;
const RENEW_MS = 300;

type State =
  | { is: "idle" }
  | { is: "searching" }
  | { is: "failed"; why: string }
  | { is: "found"; query: string; answer: Recalled };

export default function Recall() {
  const { params } = route.value;
  const { q = "", tag = "", kind = "", status = "", hops = "" } = params;
  const { after, before } = span(params);
  const [typed, setTyped] = useState(q);
  const [state, setState] = useState<State>({ is: q ? "searching" : "idle" });
  const [count, setCount] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLOListElement>(null);
  useTags();

  useEffect(() => {
    if (!params.memory) field.current?.focus();
  }, []);

  useEffect(() => {
    setTyped(q);
    if (!q) return setState({ is: "idle" });
    const stop = new AbortController();
    setState((old) => (old.is === "found" ? old : { is: "searching" }));
    get<Recalled>(
      "/recall",
      { query: q, topK: MOST, tag, kind, status, hops, after, before, explain: true },
      stop.signal,
    ).then(
      (answer) => setState({ is: "found", query: q, answer }),
      (why) => {
        if (!stop.signal.aborted) setState({ is: "failed", why: explained(why) });
      },
    );
    return () => stop.abort();
  }, [q, tag, kind, status, hops, after, before, count]);

  useEffect(() => {
    // What is on the screen has changed or gone: asked again, once, when that has settled.
    if (state.is !== "found") return undefined;
    const shown = new Set(state.answer.results.map((hit) => hit.id));
    let timer = 0;
    const stop = onChange((change) => {
      if (!change.id || !shown.has(change.id)) return;
      clearTimeout(timer);
      timer = window.setTimeout(() => setCount((n) => n + 1), RENEW_MS);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [state]);

  function search(event: Event): void {
    event.preventDefault();
    change({ q: typed.trim() });
  }

  function move(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    if ((event.target as HTMLElement).closest("select")) return;
    const stops = [...(list.current?.querySelectorAll<HTMLElement>("a.title") ?? [])];
    if (!stops.length) return;
    const inside = (event.target as HTMLElement).closest("li.hit");
    const place = inside ? stops.findIndex((s) => inside.contains(s)) : -1;
    const next = event.key === "ArrowDown" ? place + 1 : place - 1;
    event.preventDefault();
    if (next < 0) field.current?.focus();
    else stops[Math.min(next, stops.length - 1)]!.focus();
  }

  return (
    // The arrows move between what already takes the focus.
    <div onKeyDown={move}>
      <h1 class="unseen">{shell("recall")}</h1>
      <form class="search" role="search" onSubmit={search}>
        <Icon name="search" size={22} />
        <input
          ref={field}
          id="search"
          type="search"
          enterkeyhint="search"
          autocomplete="off"
          placeholder={recall("placeholder")}
          aria-label={recall("placeholder")}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          {recall("search")}
        </button>
      </form>
      <Filters names={["tag", "time", "kind", "status", "hops"]} hopsLabel={recall("hops")} />
      {state.is === "idle" && (
        <div class="welcome">
          <p>{recall("intro")}</p>
          <p class="soft keys">
            <kbd>/</kbd> {recall("keys")}
          </p>
        </div>
      )}
      {state.is === "searching" && (
        <p class="empty soft" role="status">
          {recall("searching")}
        </p>
      )}
      {state.is === "failed" && (
        <p class="problem" role="alert">
          {state.why}
        </p>
      )}
      {state.is === "found" && (
        <>
          <Answer query={state.query} hits={state.answer.results} />
          <p class="count soft" role="status">
            {state.answer.results.length > 0 && recall("results", { n: state.answer.results.length })}
            {state.answer.semantic_unavailable && ` · ${recall("keywordsOnly")}`}
          </p>
          {state.answer.results.length > 0 && state.answer.message && (
            <p class="soft">{state.answer.message}</p>
          )}
          {state.answer.results.length === 0 && (
            <div class="empty">
              <p>{recall("none", { query: state.query })}</p>
              <p class="soft">{recall("noneHint")}</p>
            </div>
          )}
          <ol class="hits" ref={list}>
            {state.answer.results.map((hit, i) => (
              <Passage key={hit.id} hit={hit} query={state.query} place={i + 1} />
            ))}
          </ol>
        </>
      )}
    </div>
  );
}

function Passage({ hit, query, place }: { hit: Hit; query: string; place: number }) {
  return (
    <li class="hit card" id={`hit-${place}`}>
      <h2>
        <a class="title" href={memoryAddress(hit.id)} dir="auto">
          {hit.title || shell("untitled")}
        </a>
        {hit.heading && hit.heading !== hit.title && (
          <span class="soft heading" dir="auto">
            {recall("inside", { heading: hit.heading })}
          </span>
        )}
        <span class="score" title={recall("score", { n: Math.round(hit.score) })}>
          <meter min={0} max={100} value={hit.score} aria-label={recall("score", { n: Math.round(hit.score) })} />
        </span>
      </h2>
      <div class="passage">
        <Markdown text={hit.passage} path={hit.path} query={query} images={false} title={hit.title} />
      </div>
      <div class="below">
        <Badges {...hit} created={hit.created_at} />
        <a class="out" href={hit.url}>
          <Icon name="out" size={16} />
          {shell("obsidian")}
        </a>
      </div>
      <Why hit={hit} />
    </li>
  );
}

function Why({ hit }: { hit: Hit }) {
  const explain = hit.explain;
  if (!explain) return null;
  const share = (key: string): number | null => {
    const value = explain[key];
    return typeof value === "number" ? Math.round(value * 100) : null;
  };
  const rows: [string, number | null][] = [
    [recall("byMeaning"), share("dense")],
    [recall("byWords"), share("keyword")],
    [recall("further"), share("chunk_bonus") || null],
    [recall("lent"), share("episode_bonus") || null],
    [recall("timely"), share("time_bonus") || null],
    [recall("age"), share("age_loss")],
    [recall("standing"), share("standing_loss")],
    [recall("yields"), share("yields") || null],
  ];
  return (
    <details class="why">
      <summary>{recall("why")}</summary>
      {hit.hop > 0 && (
        <p>
          {recall("via", { n: hit.hop })}
          {typeof explain.via === "string" && (
            <>
              {" · "}
              <a href={memoryAddress(explain.via)}>{recall("viaLink")}</a>
            </>
          )}
        </p>
      )}
      <dl>
        {rows.map(
          ([label, value]) =>
            value !== null && (
              <div key={label}>
                <dt>{label}</dt>
                <dd>
                  <meter min={0} max={100} value={value} aria-label={label} /> {value} %
                </dd>
              </div>
            ),
        )}
      </dl>
    </details>
  );
}
