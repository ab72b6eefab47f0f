// Times as a reader says them, in the language of the page.

import { language } from "../i18n";

const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["minute", 60_000],
  ["hour", 3_600_000],
  ["day", 86_400_000],
];

/** "3 hours ago" within a week, else the date. */
export function ago(ms: number, now = Date.now()): string {
  const past = now - ms;
  if (past < 0 || past > 7 * 86_400_000) return day(ms, now);
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: "auto" });
  const [unit, length] = [...UNITS].reverse().find(([, l]) => past >= l) ?? ["second", 1_000];
  return unit === "second" ? format.format(0, "second") : format.format(-Math.floor(past / length), unit);
}

export function day(ms: number, now = Date.now()): string {
  const sameYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return new Date(ms).toLocaleDateString(language.value, {
    day: "numeric",
    month: "short",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

export function exact(ms: number): string {
  return new Date(ms).toLocaleString(language.value, { dateStyle: "full", timeStyle: "short" });
}

export function iso(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
