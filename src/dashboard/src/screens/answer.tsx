// An answer to the question from the passages found, streamed; nothing without a language model.

import { useEffect, useState } from "preact/hooks";
import { get, request } from "../api";
import type { Health, Hit } from "../types";
import { Markdown } from "../ui/markdown";
import { explained } from "../ui/toast";
import { recall } from "../words/recall";

let configured: Promise<boolean> | null = null;

/** Asked once a page; a failed question is asked again. */
function hasModel(): Promise<boolean> {
  configured ??= get<Health>("/health").then(
    (health) => Boolean(health.language_model?.configured ?? health.language_model?.ok),
    () => {
      configured = null;
      return false;
    },
  );
  return configured;
}

export function Answer({ query, hits }: { query: string; hits: readonly Hit[] }) {
  const [text, setText] = useState<string | null>(null);
  const [done, setDone] = useState(false);
  const [error, setError] = useState<string | null>(null);

  useEffect(() => {
    const stop = new AbortController();
    setText(null);
    setDone(false);
    setError(null);
    void (async () => {
      if (!hits.length || !(await hasModel()) || stop.signal.aborted) return;
      setText("");
      try {
        await stream(query, hits, stop.signal, (piece) => setText((old) => (old ?? "") + piece));
      } catch (why) {
        if (!stop.signal.aborted) setError(explained(why));
      }
      if (!stop.signal.aborted) setDone(true);
    })();
    return () => stop.abort();
  }, [query, hits]);

  if (text === null) return null;
  return (
    <section class="answer card" aria-label={recall("answer")} aria-busy={!done}>
      <h2>{recall("answer")}</h2>
      {text ? (
        <div onClick={jump}>
          <Markdown text={cited(text, hits.length)} images={false} />
        </div>
      ) : (
        !done && <p class="soft">{recall("answering")}</p>
      )}
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}

/** `[2]` leads to the second passage below. */
function cited(text: string, most: number): string {
  return text.replace(/\[(\d{1,2})\](?!\()/g, (whole, n: string) =>
    Number(n) >= 1 && Number(n) <= most ? `[${n}](#hit-${n})` : whole,
  );
}

function jump(event: MouseEvent): void {
  const link = (event.target as HTMLElement).closest("a");
  const place = /^\d+$/.exec(link?.textContent?.trim() ?? "")?.[0];
  if (!place) return;
  event.preventDefault();
  const hit = document.getElementById(`hit-${place}`);
  hit?.scrollIntoView({ block: "center" });
  hit?.querySelector<HTMLElement>("a.title")?.focus();
}

async function stream(
  query: string,
  hits: readonly Hit[],
  stop: AbortSignal,
  tell: (piece: string) => void,
): Promise<void> {
  const memories = hits
    .map((hit, i) => `[${i + 1}] ${hit.title} (${hit.date.slice(0, 10)})\n${hit.passage}`)
    .join("\n\n");
  const response = await request("/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ query, memories }),
    signal: stop,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const data = line.startsWith("data: ") ? line.slice(6).trim() : "";
      if (data === "[DONE]") return;
      if (!data) continue;
      const piece = (JSON.parse(data) as { response?: string }).response;
      if (piece) tell(piece);
    }
  }
}
