// Light, dark, or as the system has it. public/early.js applies it before the first paint.

import { effect, signal } from "@preact/signals";
import { read, write } from "./storage";

export type Theme = "system" | "light" | "dark";
const KEY = "second-brain.theme";

export const theme = signal<Theme>(read<Theme>(KEY, ["light", "dark"], "system"));

export function chooseTheme(choice: Theme): void {
  theme.value = choice;
  write(KEY, choice === "system" ? null : choice);
}

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
