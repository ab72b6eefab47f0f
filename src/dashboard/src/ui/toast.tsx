// Short messages at the foot of the page, read out by screen readers; one may offer to undo.

import { signal } from "@preact/signals";
import { ApiError } from "../api";
import { shell } from "../words/shell";
import { Icon } from "./icons";

interface Toast {
  key: number;
  text: string;
  bad: boolean;
  action?: { label: string; run: () => void };
}

const shown = signal<Toast[]>([]);
const SECONDS = 8;
let count = 0;

export function toast(text: string, options: { bad?: boolean; action?: Toast["action"] } = {}): void {
  const key = ++count;
  const one: Toast = { key, text, bad: options.bad ?? false };
  if (options.action) one.action = options.action;
  shown.value = [...shown.value.slice(-2), one];
  setTimeout(() => dismiss(key), SECONDS * 1_000 * (options.action || options.bad ? 2 : 1));
}

/** What went wrong, in the words of the server. */
export function explained(error: unknown): string {
  if (error instanceof ApiError) return error.status === 0 ? shell("unreachable") : error.message;
  return error instanceof Error ? error.message : String(error);
}

export function failed(error: unknown): void {
  if (error instanceof ApiError && error.status === 401) return; // the sign-in page says so
  toast(explained(error), { bad: true });
}

function dismiss(key: number): void {
  shown.value = shown.value.filter((t) => t.key !== key);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map((t) => (
        <div key={t.key} class={t.bad ? "toast bad" : "toast"}>
          <span>{t.text}</span>
          {t.action && (
            <button
              type="button"
              class="plain"
              onClick={() => {
                dismiss(t.key);
                t.action!.run();
              }}
            >
              {t.action.label}
            </button>
          )}
          <button type="button" class="plain small" aria-label={shell("close")} onClick={() => dismiss(t.key)}>
            <Icon name="close" size={16} />
          </button>
        </div>
      ))}
    </div>
  );
}
