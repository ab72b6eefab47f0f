// The page that asks for the token.

import { useState } from "preact/hooks";
import { ApiError, request } from "./api";
import { Mark } from "./app";
import { ended, signIn } from "./session";
import { explained } from "./ui/toast";
import { shell } from "./words/shell";

export function SignIn() {
  const [value, setValue] = useState("");
  const [stay, setStay] = useState(true);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);

  async function connect(event: Event): Promise<void> {
    event.preventDefault();
    const given = value.trim().replace(/^bearer\s+/i, "");
    if (!given) return setError(shell("emptyToken"));
    // A header cannot hold these, so no token does.
    if (/[\0-\x1f\x7f]/.test(given)) return setError(shell("wrongToken"));
    setBusy(true);
    setError(null);
    try {
      await request("/count", {}, given);
      signIn(given, !stay);
    } catch (why) {
      const status = why instanceof ApiError ? why.status : 0;
      if (status === 401) setError(shell("wrongToken"));
      else if (status === 429) setError(shell("tooMany"));
      else setError(explained(why));
      setBusy(false);
    }
    return undefined;
  }

  const message = error ?? (ended.value ? shell("ended") : null);
  return (
    <main class="sign-in">
      <form onSubmit={connect} noValidate>
        <Mark />
        <h1>{shell("connectTitle")}</h1>
        <p class="soft">{shell("connectLead")}</p>
        <label for="token">{shell("token")}</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          autocapitalize="none"
          spellcheck={false}
          autofocus
          value={value}
          aria-invalid={error ? "true" : undefined}
          aria-describedby="token-hint token-error"
          onInput={(event) => setValue(event.currentTarget.value)}
        />
        <p class="soft hint" id="token-hint">
          {shell("tokenHint")
            .split("`")
            .map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part))}
        </p>
        <p class="problem" id="token-error" role="alert">
          {message}
        </p>
        <label class="check">
          <input type="checkbox" checked={stay} onChange={(event) => setStay(event.currentTarget.checked)} />
          {shell("stay")}
        </label>
        <button type="submit" class="primary" disabled={busy}>
          {busy ? shell("connecting") : shell("connect")}
        </button>
      </form>
    </main>
  );
}
