// One memory over the screen: what it says, what is known of it, and what can be done with it.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get } from "../api";
import { onChange } from "../live";
import { change, memoryAddress } from "../route";
import type { Whole } from "../types";
import { Icon } from "../ui/icons";
import { Markdown } from "../ui/markdown";
import { explained } from "../ui/toast";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";
import { Badges } from "./badges";

export function MemoryPanel({ id }: { id: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [memory, setMemory] = useState<Whole | null>(null);
  const [error, setError] = useState<string | null>(null);

  function load(): void {
    get<Whole>("/get", { id }).then(
      (found) => {
        setMemory(found);
        setError(null);
      },
      (why) => setError(why instanceof ApiError && why.status === 404 ? word("gone") : explained(why)),
    );
  }

  useEffect(() => {
    dialog.current?.showModal();
    load();
    return onChange((changed) => {
      if (changed.id === id) load();
    });
  }, [id]);

  const close = () => change({ memory: "" });
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-labelledby="panel-title"
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <article>
        <header>
          <h2 id="panel-title" dir="auto">
            {memory ? memory.title || shell("untitled") : shell("loading")}
          </h2>
          <button type="button" class="plain" aria-label={shell("close")} onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {error && (
          <p class="problem" role="alert">
            {error}
          </p>
        )}
        {memory && <Shown memory={memory} />}
      </article>
    </dialog>
  );
}

function Shown({ memory }: { memory: Whole }) {
  return (
    <>
      <p class="path soft">
        <bdi>{memory.path}</bdi>
      </p>
      <Badges {...memory} created={memory.created_at} />
      <a class="out" href={memory.url}>
        <Icon name="out" size={16} />
        {shell("obsidian")}
      </a>
      <Markdown text={memory.content} path={memory.path} links={memory.links} title={memory.title} />
      <section>
        <h3>{word("links")}</h3>
        {memory.links.length === 0 && <p class="soft">{word("noLinks")}</p>}
        <ul class="links">
          {memory.links.map((link) => (
            <li key={`${link.id} ${link.type} ${link.direction}`}>
              <span class="soft">{link.label}</span> <a href={memoryAddress(link.id)}>{link.title}</a>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
