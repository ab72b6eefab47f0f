// The filters over a list of memories. Their state is in the address, so that Back and a bookmark
// lead to the same list.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import { change, route } from "../route";
import { KINDS, STATUSES } from "../types";
import { shell } from "../words/shell";

export type Name = "tag" | "time" | "kind" | "status" | "hops";

const tags = signal<string[]>([]);
const DAY = 86_400_000;
const SPANS: Record<string, number> = { "7": 7 * DAY, "30": 30 * DAY, "365": 365 * DAY };

/** Reads the tags there are; again when memories have changed. */
export function useTags(changed: unknown = null): void {
  useEffect(() => {
    get<string[]>("/tags").then((found) => (tags.value = found), () => undefined);
  }, [changed]);
}

/** `after` and `before` in Unix milliseconds of the address' `time`, `from` and `to`. */
export function span(params: Record<string, string>): { after?: number; before?: number } {
  const days = SPANS[params.time ?? ""];
  // To the minute, so that an equal question stays equal.
  if (days) return { after: Math.floor((Date.now() - days) / 60_000) * 60_000 };
  if (params.time !== "custom") return {};
  const after = params.from ? new Date(`${params.from}T00:00`).getTime() : Number.NaN;
  const before = params.to ? new Date(`${params.to}T23:59:59.999`).getTime() : Number.NaN;
  return {
    ...(Number.isNaN(after) ? {} : { after: Math.max(0, after) }),
    ...(Number.isNaN(before) ? {} : { before: Math.max(0, before) }),
  };
}

const NONE: Record<string, string> = {
  tag: "",
  time: "",
  from: "",
  to: "",
  kind: "",
  status: "",
  hops: "",
};

export function Filters({ names, hopsLabel }: { names: readonly Name[]; hopsLabel?: string }) {
  const { params } = route.value;
  const set = (name: string) => (event: Event) =>
    change({ [name]: (event.currentTarget as HTMLSelectElement).value }, true);
  const active = names.some((name) => params[name]);
  return (
    <fieldset class="filters">
      <legend class="unseen">{shell("filters")}</legend>
      {names.includes("tag") && (
        <label>
          <span>{shell("tag")}</span>
          <select value={params.tag ?? ""} onChange={set("tag")}>
            <option value="">{shell("allTags")}</option>
            {params.tag && !tags.value.includes(params.tag) && <option value={params.tag}>#{params.tag}</option>}
            {tags.value.map((tag) => (
              <option key={tag} value={tag}>
                #{tag}
              </option>
            ))}
          </select>
        </label>
      )}
      {names.includes("time") && (
        <label>
          <span>{shell("time")}</span>
          <select value={params.time ?? ""} onChange={set("time")}>
            <option value="">{shell("allTime")}</option>
            <option value="7">{shell("days7")}</option>
            <option value="30">{shell("days30")}</option>
            <option value="365">{shell("days365")}</option>
            <option value="custom">{shell("custom")}</option>
          </select>
        </label>
      )}
      {names.includes("time") && params.time === "custom" && (
        <>
          <label>
            <span>{shell("from")}</span>
            <input type="date" value={params.from ?? ""} onChange={set("from")} />
          </label>
          <label>
            <span>{shell("to")}</span>
            <input type="date" value={params.to ?? ""} onChange={set("to")} />
          </label>
        </>
      )}
      {names.includes("kind") && (
        <label>
          <span>{shell("kind")}</span>
          <select value={params.kind ?? ""} onChange={set("kind")}>
            <option value="">{shell("any")}</option>
            {KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {shell(kind)}
              </option>
            ))}
          </select>
        </label>
      )}
      {names.includes("status") && (
        <label>
          <span>{shell("status")}</span>
          <select value={params.status ?? ""} onChange={set("status")}>
            <option value="">{shell("any")}</option>
            {STATUSES.map((status) => (
              <option key={status} value={status}>
                {shell(status)}
              </option>
            ))}
          </select>
        </label>
      )}
      {names.includes("hops") && (
        <label>
          <span>{hopsLabel}</span>
          <select value={params.hops ?? ""} onChange={set("hops")}>
            {["", "1", "2", "3"].map((n) => (
              <option key={n} value={n}>
                {n || "0"}
              </option>
            ))}
          </select>
        </label>
      )}
      {active && (
        <button type="button" class="plain" onClick={() => change(NONE, true)}>
          {shell("clear")}
        </button>
      )}
    </fieldset>
  );
}
