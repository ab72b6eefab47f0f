// Capturing from elsewhere: the bookmarklets with this address filled in, the extension, a phone.

import { atOnce, inWindow } from "../../bookmarklet";
import { token } from "../../session";
import { toast } from "../../ui/toast";
import { anywhere as words } from "../../words/anywhere";
import { Part } from "../settings";

export function Anywhere() {
  const said = { stored: words("stored"), known: words("known") };
  return (
    <Part title={words("title")}>
      <p>{words("drag")}</p>
      <Bookmark name={words("inWindow")} hint={words("inWindowHint")} code={inWindow(location.origin)} />
      <Bookmark
        name={words("atOnce")}
        hint={words("atOnceHint")}
        code={atOnce(location.origin, token.value ?? "", said)}
      />
      <p class="soft">{words("extension")}</p>
      <p class="soft">{words("phone")}</p>
    </Part>
  );
}

function Bookmark({ name, hint, code }: { name: string; hint: string; code: string }) {
  const copy = (): void => {
    // Only over HTTPS or from this machine does a browser offer it.
    const copying = navigator.clipboard?.writeText(code) ?? Promise.reject(new Error("no clipboard"));
    copying.then(
      () => toast(words("copied")),
      () => toast(words("copyFailed"), { bad: true }),
    );
  };
  return (
    <div>
      <p class="row">
        <a
          class="bookmark"
          href={code}
          onClick={(event) => {
            event.preventDefault();
            toast(words("notHere"));
          }}
        >
          {name}
        </a>
        <button type="button" class="plain small" aria-label={words("copy", { name })} onClick={copy}>
          ⧉
        </button>
      </p>
      <p class="soft">{hint}</p>
    </div>
  );
}
