// The colours of nodes and relations, for light and dark: WebGL knows no style sheet. Each stands
// at least 3:1 against the page, and beside its colour a relation is always named in words.

import { computed, signal } from "@preact/signals";
import { theme } from "../theme";

const dark = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(dark.matches);
dark.addEventListener("change", () => (systemDark.value = dark.matches));

export interface Palette {
  kinds: Record<string, string>;
  types: Record<string, string>;
  ink: string;
  faded: string;
  fadedEdge: string;
  ring: string;
}

const LIGHT: Palette = {
  kinds: { semantic: "#5b3fc0", episodic: "#b3541e", none: "#5f6b7a" },
  types: {
    relates_to: "#8a8494",
    supersedes: "#c2255c",
    caused_by: "#a8620a",
    decided: "#2b7a3d",
    about_person: "#1c6fb5",
    part_of_project: "#7a4fd0",
    follows: "#0b7a75",
  },
  ink: "#23212b",
  faded: "#d9d5ce",
  fadedEdge: "#e9e6e0",
  ring: "#fffefc",
};

const DARK: Palette = {
  kinds: { semantic: "#b9a6ff", episodic: "#f2a36b", none: "#a9b4c2" },
  types: {
    relates_to: "#7d7889",
    supersedes: "#ff7aa8",
    caused_by: "#f0b74e",
    decided: "#7fd08f",
    about_person: "#74b8f5",
    part_of_project: "#c3a3ff",
    follows: "#58cfc8",
  },
  ink: "#eae8f0",
  faded: "#3a3743",
  fadedEdge: "#28262f",
  ring: "#1e1d23",
};

export const palette = computed<Palette>(() => {
  const chosen = theme.value;
  return chosen === "dark" || (chosen === "system" && systemDark.value) ? DARK : LIGHT;
});
