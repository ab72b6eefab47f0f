// Where the user is: `#/recall?q=boat&memory=ID` is the screen "recall" with its parameters.

import { signal } from "@preact/signals";

export type Params = Record<string, string>;
export interface Route {
  screen: string;
  params: Params;
}

export const route = signal<Route>(parse(location.hash));

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  return { screen: path || "recall", params: Object.fromEntries(new URLSearchParams(query)) };
}

addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** The address of a screen; empty parameters are left out. */
export function address(screen: string, params: Params = {}): string {
  const kept = Object.entries(params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString();
  return `#/${screen}${query ? `?${query}` : ""}`;
}

/** Goes to a screen. With `replace`, Back does not lead here again. */
export function go(screen: string, params: Params = {}, replace = false): void {
  const target = address(screen, params);
  if (target === location.hash) return;
  if (replace) {
    history.replaceState(null, "", target);
    route.value = parse(target);
  } else location.hash = target;
}

/** Changes parameters of this screen. */
export function change(params: Params, replace = false): void {
  go(route.value.screen, { ...route.value.params, ...params }, replace);
}

/** Opens a memory over whatever is shown; Back closes it. */
export function openMemory(id: string): void {
  change({ memory: id });
}

/** The address that shows a memory over this screen. */
export function memoryAddress(id: string): string {
  return address(route.value.screen, { ...route.value.params, memory: id });
}
