// Remember: a new memory in Markdown, its tags as they are read, and what there is already like it.

import { useEffect, useId, useState } from "preact/hooks";
import { get, post } from "../api";
import { hashtags } from "../markdown";
import { memoryAddress, openMemory, route } from "../route";
import { DRAFT } from "../session";
import { sharedText } from "../share";
import { readText, write } from "../storage";
import type { Entry, Write } from "../types";
import { useBusy } from "../ui/busy";
import { Composer } from "../ui/composer";
import { failed, toast } from "../ui/toast";
import { undo } from "../memory/undo";
import { remember } from "../words/remember";
import { shell } from "../words/shell";

const PAUSE_MS = 500;
const WORTH_COMPARING = 12;

interface Likeness extends Entry {
  standing: "duplicate" | "similar" | "related";
  score: number | null;
  news: string | null;
}

type Captured =
  | { ok: false; duplicate: true; matchId: string }
  | { ok: true; id: string; path: string | null; message: string };

export default function Remember() {
  const [title, setTitle] = useState("");
  const [text, setText] = useState(() => readText(DRAFT) ?? "");
  const { text: shared } = route.value.params;
  const [known, setKnown] = useState<string | null>(null);
  const [stored, setStored] = useState<{ id: string; path: string } | null>(null);
  const busy = useBusy();
  const titleId = useId();
  const tags = hashtags(text);

  const change = (value: string): void => {
    setText(value);
    setKnown(null);
    write(DRAFT, value || null, true);
  };

  useEffect(() => {
    const arrived = sharedText();
    // What was being written stays, below.
    if (arrived) change(text ? `${arrived}\n\n${text}` : arrived);
  }, [shared]);

  const save = (): Promise<void> =>
    busy.run(async () => {
      if (!text.trim()) return;
      const answer = await post<Captured>("/capture", {
        content: text,
        source: "dashboard",
        title: title.trim() || null,
      });
      if (!answer.ok) return setKnown(answer.matchId);
      setTitle("");
      change("");
      setStored({ id: answer.id, path: answer.path ?? "" });
      const { writes } = await get<{ writes: Write[] }>("/history", { id: answer.id, n: 1 });
      const n = writes[0]?.n;
      toast(
        remember("stored"),
        n === undefined
          ? {}
          : {
              action: {
                label: shell("undo"),
                run: () => void undo(n).then(() => setStored(null)),
              },
            },
      );
      return undefined;
    }).catch(failed);

  return (
    <>
      <h1>{shell("remember")}</h1>
      <form
        class="stack remember"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="field">
          <label for={titleId}>{remember("title")}</label>
          <input
            id={titleId}
            dir="auto"
            value={title}
            maxLength={200}
            aria-describedby={`${titleId}-hint`}
            onInput={(event) => setTitle(event.currentTarget.value)}
          />
          <p class="soft hint" id={`${titleId}-hint`}>
            {remember("titleHint")}
          </p>
        </div>
        <Composer
          label={remember("text")}
          placeholder={remember("placeholder")}
          value={text}
          change={change}
          submit={() => void save()}
          rows={12}
          autofocus
          beside
        />
        <p class="badges" aria-label={remember("tags")} role="group">
          {tags.length === 0 && remember("noTags")}
          {tags.map((tag) => (
            <span key={tag} class="tag">
              <bdi>#{tag}</bdi>
            </span>
          ))}
        </p>
        <div class="row">
          <button type="submit" class="primary" disabled={busy.now || !text.trim()}>
            {busy.now ? remember("saving") : remember("save")}
          </button>
          <span class="soft keys">
            <kbd>Ctrl</kbd> <kbd>Enter</kbd> {remember("shortcut")}
          </span>
        </div>
        {known && (
          <p class="notice row" role="alert">
            <span>{remember("known")}</span>
            <a href={memoryAddress(known)}>{remember("showKnown")}</a>
          </p>
        )}
        {stored && !text && (
          <p class="stored row" role="status">
            <span>
              <bdi>{remember("storedAs", { path: stored.path })}</bdi>
            </span>
            <button type="button" class="small" onClick={() => openMemory(stored.id)}>
              {remember("open")}
            </button>
          </p>
        )}
      </form>
      <Beside text={text} title={title} />
    </>
  );
}

/** The memories that say the same or something like it. */
function Beside({ text, title }: { text: string; title: string }) {
  const [found, setFound] = useState<Likeness[] | null>(null);
  const [comparing, setComparing] = useState(false);
  const worth = text.trim().length >= WORTH_COMPARING;

  useEffect(() => {
    setFound(null);
    if (!worth) return setComparing(false);
    setComparing(true);
    let current = true;
    const timer = setTimeout(() => {
      post<{ memories: Likeness[] }>("/similar", { content: text, title: title.trim() || null })
        .then((answer) => {
          if (current) setFound(answer.memories);
        })
        .catch((error) => {
          if (current) failed(error);
        })
        .finally(() => {
          if (current) setComparing(false);
        });
    }, PAUSE_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [text, title, worth]);

  if (!worth) return null;
  return (
    <section class="beside" aria-labelledby="beside">
      <h2 id="beside">{remember("beside")}</h2>
      <p class="soft" role="status">
        {comparing ? remember("checking") : found?.length === 0 ? remember("nothing") : ""}
      </p>
      <ul class="hits">
        {found?.map((one) => (
          <li key={one.id} class="hit card">
            <h3>
              <a class="title" href={memoryAddress(one.id)} dir="auto">
                {one.title || shell("untitled")}
              </a>
              <span class={`standing ${one.standing}`}>
                {remember(one.standing)}
                {one.score !== null && ` · ${Math.round(one.score)} %`}
              </span>
            </h3>
            <p class="excerpt soft" dir="auto">
              {one.content.slice(0, 240)}
            </p>
            {one.news && <p class="soft">{remember("adds", { news: one.news })}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}
