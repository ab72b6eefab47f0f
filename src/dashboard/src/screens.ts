// The screens, in the order of the navigation. To add one: a file in screens/ that exports its
// component as default, and a line here. Each is loaded when it is first shown.

import type { ComponentType } from "preact";
import type { IconName } from "./ui/icons";

export interface Screen {
  /** Its name in the address, and its key in words/shell.ts. */
  name: "recall" | "recent" | "remember" | "graph" | "review" | "settings";
  icon: IconName;
  load: () => Promise<{ default: ComponentType }>;
}

export const SCREENS: readonly Screen[] = [
  { name: "recall", icon: "search", load: () => import("./screens/recall") },
  { name: "recent", icon: "clock", load: () => import("./screens/recent") },
  { name: "remember", icon: "pen", load: () => import("./screens/remember") },
  { name: "graph", icon: "graph", load: () => import("./screens/graph") },
  { name: "review", icon: "review", load: () => import("./screens/review") },
  { name: "settings", icon: "gear", load: () => import("./screens/settings") },
];
