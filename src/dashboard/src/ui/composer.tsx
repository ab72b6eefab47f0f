// A field for Markdown with a preview beside it: on a phone one or the other.

import { useId, useState } from "preact/hooks";
import type { Link } from "../types";
import { memory } from "../words/memory";
import { Markdown } from "./markdown";

interface Props {
  label: string;
  value: string;
  change: (value: string) => void;
  /** Ctrl or Cmd with Enter. */
  submit: () => void;
  rows?: number;
  path?: string;
  links?: readonly Link[];
  autofocus?: boolean;
}

export function Composer({ label, value, change, submit, rows = 12, path = "", links = [], autofocus }: Props) {
  const [preview, setPreview] = useState(false);
  const id = useId();
  return (
    <div class="composer">
      <div class="row">
        <label for={id}>{label}</label>
        <button type="button" class="plain small" aria-pressed={preview} onClick={() => setPreview(!preview)}>
          {memory(preview ? "write" : "preview")}
        </button>
      </div>
      {preview ? (
        <div class="preview card">
          <Markdown text={value} path={path} links={links} />
        </div>
      ) : (
        <textarea
          id={id}
          rows={rows}
          dir="auto"
          value={value}
          autofocus={autofocus}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            submit();
          }}
        />
      )}
    </div>
  );
}
