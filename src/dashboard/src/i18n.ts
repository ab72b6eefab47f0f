// The language of the page, and texts in it. Each part of the page keeps its own words in both.

import { signal } from "@preact/signals";
import { read, write } from "./storage";

export type Language = "en" | "fr";
export type LanguageChoice = Language | "system";

const KEY = "second-brain.language";

export const languageChoice = signal<LanguageChoice>(read<LanguageChoice>(KEY, ["en", "fr"], "system"));
export const language = signal<Language>(resolved());

function resolved(): Language {
  const choice = languageChoice.value;
  if (choice !== "system") return choice;
  return navigator.languages.find((l) => /^(en|fr)\b/i.test(l))?.toLowerCase().startsWith("fr") ? "fr" : "en";
}

export function chooseLanguage(choice: LanguageChoice): void {
  languageChoice.value = choice;
  write(KEY, choice === "system" ? null : choice);
  language.value = resolved();
  document.documentElement.lang = language.value;
}

document.documentElement.lang = language.value;

type Values = Record<string, string | number>;
type Words = Record<string, string>;

/**
 * A function from key to text. `{name}` in a text is filled in; `one | many` is chosen by `{n}`.
 * Whoever calls it while rendering is rendered again when the language changes.
 */
export function translator<W extends Words>(words: { en: W; fr: Record<keyof W, string> }) {
  return (key: keyof W & string, values: Values = {}): string => {
    let text: string = words[language.value][key];
    const forms = text.split(" | ");
    if (forms.length === 2 && typeof values.n === "number") {
      const one = language.value === "fr" ? Math.abs(values.n) < 2 : values.n === 1;
      text = forms[one ? 0 : 1]!;
    }
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      return typeof value === "number" ? value.toLocaleString(language.value) : value;
    });
  };
}
