// An answer to the question with its citations, streamed; nothing without a language model.

import { useEffect, useMemo, useState } from "preact/hooks";
import { get, request } from "../api";
import { cited } from "../citations";
import { memoryAddress } from "../route";
import type { Health, Hit } from "../types";
import { Markdown } from "../ui/markdown";
import { explained } from "../ui/toast";
import { recall } from "../words/recall";
import { shell } from "../words/shell";

export function Answer({ query, hits }: { query: string; hits: readonly Hit[] }) {
  const [text, setText] = useState<string | null>(null);
  const [done, setDone] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const wanted = hits.length > 0;

  useEffect(() => {
    const stop = new AbortController();
    setText(null);
    setDone(false);
    setError(null);
    void (async () => {
      if (!wanted || !(await hasModel()) || stop.signal.aborted) return;
      setText("");
      try {
        await stream(query, stop.signal, (piece) => setText((old) => (old ?? "") + piece));
      } catch (why) {
        if (!stop.signal.aborted) setError(explained(why));
      }
      if (!stop.signal.aborted) setDone(true);
    })();
    return () => stop.abort();
  }, [query, wanted]);

  const answer = useMemo(
    () => cited(text ?? "", new Map(hits.map((hit) => [hit.id, hit.title]))),
    [text, hits],
  );
  if (text === null) return null;
  return (
    <section class="answer card" aria-labelledby="answer" aria-busy={!done}>
      <h2 id="answer">{recall("answer")}</h2>
      {text ? (
        <Markdown text={answer.text} links={answer.links} images={false} />
      ) : (
        !done && <p class="soft">{recall("answering")}</p>
      )}
      {done && answer.sources.length > 0 && (
        <ol class="sources">
          {answer.sources.map((source) => (
            <li key={source.id}>
              <a href={memoryAddress(source.id)} dir="auto">
                {source.title || shell("untitled")}
              </a>
            </li>
          ))}
        </ol>
      )}
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
    </section>
  );
}

async function hasModel(): Promise<boolean> {
  try {
    return (await get<Health>("/health")).llm?.configured === true;
  } catch {
    return false;
  }
}

async function stream(query: string, stop: AbortSignal, tell: (piece: string) => void): Promise<void> {
  const response = await request("/chat", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
    body: JSON.stringify({ query }),
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
