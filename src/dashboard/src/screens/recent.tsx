// Recent: the newest memories as an endless list, of which only what is in view is on the page.

import { useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { onChange } from "../live";
import { Badges } from "../memory/badges";
import { PAGE, Pages, type Row } from "../memory/pages";
import { memoryAddress, route } from "../route";
import { Filters, span, useTags } from "../ui/filters";
import { recent } from "../words/recent";
import { shell } from "../words/shell";

/** As in style/memories.css. */
const ROW_REM = 8.2;
const BEYOND = 6;
const RENEW_MS = 150;

function rowHeight(): number {
  return ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
}

export default function Recent() {
  const { params } = route.value;
  const { tag = "", kind = "", status = "" } = params;
  const { after, before } = span(params);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const [view, setView] = useState({ first: 0, last: 12 });
  const [renewed, setRenewed] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const focus = useRef<number | null>(null);
  useTags(renewed);

  const pages = useMemo(
    () => new Pages({ tag, kind, status, after, before }, () => again(0)),
    [tag, kind, status, after, before],
  );

  useEffect(() => {
    void pages.count();
    return () => pages.stop();
  }, [pages]);

  useEffect(() => {
    let waiting = 0;
    const look = (): void => {
      waiting = 0;
      if (!list.current) return;
      const height = rowHeight();
      const above = Math.max(0, -list.current.getBoundingClientRect().top);
      const first = Math.max(0, Math.floor(above / height) - BEYOND);
      const last = Math.ceil((above + innerHeight) / height) + BEYOND;
      setView((old) => (old.first === first && old.last === last ? old : { first, last }));
    };
    const scrolled = (): void => {
      waiting ||= requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", scrolled, { passive: true });
    addEventListener("resize", scrolled);
    return () => {
      cancelAnimationFrame(waiting);
      removeEventListener("scroll", scrolled);
      removeEventListener("resize", scrolled);
    };
  }, []);

  const last = Math.min(view.last, Math.max(pages.total - 1, PAGE - 1));
  useEffect(() => {
    // Whoever drags the scroll bar along does not need what is passed over.
    const timer = setTimeout(() => pages.show(view.first, last), 30);
    return () => clearTimeout(timer);
  }, [pages, view.first, last]);

  useEffect(() => {
    let timer = 0;
    const stop = onChange(() => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const old = pages.total;
        void pages.renew(view.first, last).then(() => {
          setRenewed((n) => n + 1);
          // What came in above must not push away what is being read.
          if (view.first > 0) scrollBy(0, (pages.total - old) * rowHeight());
        });
      }, RENEW_MS) as unknown as number;
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [pages, view.first, last]);

  useEffect(() => {
    if (focus.current === null) return;
    const target = list.current?.querySelector<HTMLElement>(`[data-place="${focus.current}"] a.title`);
    if (!target) return;
    focus.current = null;
    target.focus({ preventScroll: true });
    target.closest("li")?.scrollIntoView({ block: "nearest" });
  });

  function move(event: KeyboardEvent): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const item = (event.target as HTMLElement).closest<HTMLElement>("li[data-place]");
    if (!item) return;
    event.preventDefault();
    const place = Number(item.dataset.place) + (event.key === "ArrowDown" ? 1 : -1);
    focus.current = Math.max(0, Math.min(pages.total - 1, place));
    again(0);
  }

  const height = rowHeight();
  const places = Array.from(
    { length: Math.max(0, Math.min(view.last, pages.total - 1) - view.first + 1) },
    (_, i) => view.first + i,
  );
  const filtered = Boolean(tag || kind || status || params.time);
  return (
    <>
      <h1>{shell("recent")}</h1>
      <Filters names={["tag", "time", "kind", "status"]} />
      <p class="count soft" role="status">
        {filtered && !pages.complete ? recent("some") : recent("total", { n: pages.total })}
      </p>
      {pages.failed && (
        <p class="problem" role="alert">
          {recent("failed")}{" "}
          <button type="button" class="small" onClick={() => void pages.renew(view.first, last)}>
            {shell("again")}
          </button>
        </p>
      )}
      {pages.complete && pages.total === 0 && (
        <div class="empty">
          <p>{recent(filtered ? "noneFiltered" : "none")}</p>
          {!filtered && <p class="soft">{recent("noneHint")}</p>}
        </div>
      )}
      <ul ref={list} class="rows" style={{ height: `${pages.total * height}px` }} onKeyDown={move}>
        {places.map((place) => (
          <Item key={place} place={place} total={pages.total} top={place * height} row={pages.row(place)} />
        ))}
      </ul>
    </>
  );
}

function Item(props: { place: number; total: number; top: number; row: Row | undefined }) {
  const { place, total, top, row } = props;
  return (
    <li
      class={row ? "memory" : "memory waiting"}
      data-place={place}
      aria-setsize={total}
      aria-posinset={place + 1}
      style={{ transform: `translateY(${top}px)` }}
    >
      {row && (
        <div class="card">
          <h2>
            <a class="title" href={memoryAddress(row.id)} dir="auto">
              {row.title || shell("untitled")}
            </a>
          </h2>
          <p class="excerpt" dir="auto">
            {row.excerpt}
          </p>
          <Badges {...row} />
        </div>
      )}
    </li>
  );
}
