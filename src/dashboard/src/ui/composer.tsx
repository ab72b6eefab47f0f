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
  placeholder?: string;
  /** On a wide page the preview stands beside the text. */
  beside?: boolean;
}

export function Composer({ label, value, change, submit, rows = 12, path = "", links = [], autofocus, placeholder, beside }: Props) {
  const [preview, setPreview] = useState(false);
  const id = useId();
  const shown = preview || beside;
  const look = ["composer", beside && "both", preview && "previewing"].filter(Boolean).join(" ");
  return (
    <div class={look}>
      <div class="row">
        <label for={id}>{label}</label>
        <button type="button" class="plain small" aria-pressed={preview} onClick={() => setPreview(!preview)}>
          {memory("preview")}
        </button>
      </div>
      {(beside || !preview) && (
        <textarea
          id={id}
          rows={rows}
          dir="auto"
          value={value}
          autofocus={autofocus}
          placeholder={placeholder}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            submit();
          }}
        />
      )}
      {shown && (
        <div class="preview card" role="region" aria-label={memory("preview")} tabIndex={0}>
          <Markdown text={value} path={path} links={links} />
        </div>
      )}
    </div>
  );
}
