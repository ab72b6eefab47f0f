// The links of a memory: where they lead, taking one away, adding one.

import { useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import { memoryAddress } from "../route";
import { type Link, type Recalled, RELATIONS, type Relation, type Whole } from "../types";
import { Icon } from "../ui/icons";
import { failed } from "../ui/toast";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";
import { doneWithUndo } from "./undo";

const SHOWN = 6;
const PAUSE_MS = 250;

export function Links({ memory, changed }: { memory: Whole; changed: () => void }) {
  const [adding, setAdding] = useState(false);

  async function unlink(link: Link): Promise<void> {
    const [source, target] = link.direction === "out" ? [memory.id, link.id] : [link.id, memory.id];
    try {
      await post("/unlink", { source_id: source, target_id: target, type: link.type });
      changed();
      await doneWithUndo(source, word("unlinked"));
    } catch (error) {
      failed(error);
    }
  }

  return (
    <section aria-labelledby="panel-links">
      <h3 id="panel-links">{word("links")}</h3>
      {memory.links.length === 0 && <p class="soft">{word("noLinks")}</p>}
      <ul class="links">
        {memory.links.map((link) => (
          <li key={`${link.id} ${link.type} ${link.direction}`}>
            <span class="soft">{link.label}</span>
            <a href={memoryAddress(link.id)} dir="auto">
              {link.title || shell("untitled")}
            </a>
            {link.provenance === "explicit" && (
              <button
                type="button"
                class="plain small"
                aria-label={word("unlink", { title: link.title })}
                onClick={() => void unlink(link)}
              >
                <Icon name="close" size={16} />
              </button>
            )}
          </li>
        ))}
      </ul>
      {adding ? (
        <Adding
          memory={memory}
          done={() => {
            setAdding(false);
            changed();
          }}
        />
      ) : (
        <button type="button" class="small" onClick={() => setAdding(true)}>
          <Icon name="link" size={18} />
          {word("addLink")}
        </button>
      )}
    </section>
  );
}

function Adding({ memory, done }: { memory: Whole; done: () => void }) {
  const [type, setType] = useState<Relation>("relates_to");
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<Recalled["results"] | null>(null);

  useEffect(() => {
    const wanted = query.trim();
    if (!wanted) return setFound(null);
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Recalled>("/recall", { query: wanted, topK: SHOWN + 1, max_chars: 4_000 }, stop.signal).then(
        (answer) => setFound(answer.results.filter((hit) => hit.id !== memory.id).slice(0, SHOWN)),
        (error) => {
          if (!stop.signal.aborted) failed(error);
        },
      );
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query, memory.id]);

  async function link(target: { id: string; title: string }): Promise<void> {
    try {
      await post("/link", { source_id: memory.id, target_id: target.id, type });
      done();
      await doneWithUndo(memory.id, word("linked", { title: target.title }));
    } catch (error) {
      failed(error);
    }
  }

  return (
    <div class="stack adding card">
      <label>
        <span>{word("relation")}</span>
        <select value={type} onChange={(event) => setType(event.currentTarget.value as Relation)}>
          {RELATIONS.map((relation) => (
            <option key={relation} value={relation}>
              {word(relation)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{word("findTarget")}</span>
        <input type="search" value={query} autofocus onInput={(event) => setQuery(event.currentTarget.value)} />
      </label>
      <ul class="links" aria-live="polite">
        {found?.map((hit) => (
          <li key={hit.id}>
            <button type="button" class="small" onClick={() => void link(hit)}>
              <bdi>{hit.title || shell("untitled")}</bdi>
            </button>
          </li>
        ))}
        {found?.length === 0 && <li class="soft">{word("noTarget")}</li>}
      </ul>
      <button type="button" class="plain small" onClick={done}>
        {shell("cancel")}
      </button>
    </div>
  );
}
