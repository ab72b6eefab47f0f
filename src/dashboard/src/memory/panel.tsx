// One memory over the screen: what it says, what is known of it, and what can be done with it.

import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, post } from "../api";
import { onChange } from "../live";
import { change } from "../route";
import { STATUSES, type Status, type Whole } from "../types";
import { Icon } from "../ui/icons";
import { Markdown } from "../ui/markdown";
import { explained, failed } from "../ui/toast";
import { memory as word } from "../words/memory";
import { shell } from "../words/shell";
import { Appender } from "./appender";
import { Badges } from "./badges";
import { Editor } from "./editor";
import { History } from "./history";
import { Links } from "./links";
import { doneWithUndo } from "./undo";

type Doing = "reading" | "editing" | "appending" | "forgetting";

export function MemoryPanel({ id }: { id: string }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const dirty = useRef(false);
  const [memory, setMemory] = useState<Whole | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [doing, setDoing] = useState<Doing>("reading");
  const [leaving, setLeaving] = useState(false);

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
    const before = document.activeElement;
    dialog.current?.showModal();
    load();
    const stop = onChange((changed) => {
      if (changed.id === id) load();
    });
    return () => {
      stop();
      // Closed by Back: once the panel is gone, the focus goes back to where it was.
      setTimeout(() => {
        const nowhere = !document.activeElement || document.activeElement === document.body;
        if (nowhere && before instanceof HTMLElement) before.focus();
      });
    };
  }, [id]);

  useEffect(() => {
    const hold = (event: BeforeUnloadEvent): void => {
      if (dirty.current) event.preventDefault();
    };
    addEventListener("beforeunload", hold);
    return () => removeEventListener("beforeunload", hold);
  }, []);

  const leave = (): void => {
    dialog.current?.close(); // gives the focus back
    change({ memory: "" });
  };
  const close = (): void => (dirty.current ? setLeaving(true) : leave());
  const done = (): void => {
    setDoing("reading");
    load();
  };

  async function forget(): Promise<void> {
    try {
      await post("/forget", { id });
      leave();
      await doneWithUndo(id, word("forgotten"));
    } catch (why) {
      failed(why);
    }
  }

  const keep = (yes: boolean): void => {
    dirty.current = yes;
  };
  return (
    <dialog
      ref={dialog}
      class="panel"
      aria-labelledby="panel-title"
      onKeyDown={(event) => {
        // Before the browser closes it by itself, which it does for a second Escape in any case.
        if (event.key !== "Escape") return;
        event.preventDefault();
        close();
      }}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <article>
        <header>
          <h2 id="panel-title" dir="auto" tabIndex={-1} autofocus>
            {memory ? memory.title || shell("untitled") : shell("loading")}
          </h2>
          <button type="button" class="plain" aria-label={shell("close")} onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {leaving && (
          <div class="notice row" role="alert">
            <span>{word("discard")}</span>
            <button type="button" class="danger" onClick={leave}>
              {word("discardYes")}
            </button>
            <button type="button" onClick={() => setLeaving(false)}>
              {word("discardNo")}
            </button>
          </div>
        )}
        {error && (
          <p class="problem" role="alert">
            {error}
          </p>
        )}
        {memory && (
          <>
            <Facts memory={memory} />
            {doing === "reading" && (
              <Actions memory={memory} begin={setDoing} gone={error !== null} changed={load} />
            )}
            {doing === "forgetting" && (
              <div class="notice stack" role="alertdialog" aria-labelledby="forget">
                <h3 id="forget">{word("forgetSure", { title: memory.title })}</h3>
                <p>{word("forgetHint")}</p>
                <div class="row">
                  <button type="button" class="danger" autofocus onClick={() => void forget()}>
                    {word("forget")}
                  </button>
                  <button type="button" onClick={() => setDoing("reading")}>
                    {shell("cancel")}
                  </button>
                </div>
              </div>
            )}
            {doing === "editing" ? (
              <Editor memory={memory} dirty={keep} done={done} />
            ) : (
              <Markdown text={memory.content} path={memory.path} links={memory.links} title={memory.title} />
            )}
            {doing === "appending" && <Appender memory={memory} dirty={keep} done={done} />}
            <Links memory={memory} changed={load} />
            <History id={id} version={memory} />
          </>
        )}
      </article>
    </dialog>
  );
}

function Facts({ memory }: { memory: Whole }) {
  return (
    <div class="facts">
      <p class="path soft">
        <bdi>{memory.path}</bdi>
      </p>
      <Badges {...memory} created={memory.created_at} />
    </div>
  );
}

interface ActionsProps {
  memory: Whole;
  gone: boolean;
  begin: (what: Doing) => void;
  changed: () => void;
}

function Actions({ memory, gone, begin, changed }: ActionsProps) {
  async function setStatus(status: Status): Promise<void> {
    try {
      await post("/status", { id: memory.id, status });
      changed();
      await doneWithUndo(memory.id, word("statusSet", { status: shell(status) }));
    } catch (error) {
      failed(error);
      changed();
    }
  }
  return (
    <div class="row actions" role="group" aria-label={word("actions")}>
      <button type="button" disabled={gone} onClick={() => begin("editing")}>
        <Icon name="pen" size={18} />
        {word("edit")}
      </button>
      <button type="button" disabled={gone} onClick={() => begin("appending")}>
        <Icon name="plus" size={18} />
        {word("append")}
      </button>
      <select
        aria-label={shell("status")}
        disabled={gone}
        value={memory.status ?? ""}
        onChange={(event) => void setStatus(event.currentTarget.value as Status)}
      >
        {!memory.status && <option value="">{shell("noStatus")}</option>}
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {shell(status)}
          </option>
        ))}
      </select>
      <button type="button" class="danger" disabled={gone} onClick={() => begin("forgetting")}>
        <Icon name="trash" size={18} />
        {word("forget")}
      </button>
      <a class="out" href={memory.url}>
        <Icon name="out" size={16} />
        {shell("obsidian")}
      </a>
    </div>
  );
}
