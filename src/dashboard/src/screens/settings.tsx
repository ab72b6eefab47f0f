// Settings and status: how the page looks, how the brain is, who has access, import and export.

import { useEffect, useId, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { get } from "../api";
import { chooseLanguage, type LanguageChoice, languageChoice } from "../i18n";
import { changes } from "../live";
import { signOut } from "../session";
import { chooseTheme, type Theme, theme } from "../theme";
import type { Health } from "../types";
import { explained } from "../ui/toast";
import { settings } from "../words/settings";
import { shell } from "../words/shell";
import { Anywhere } from "./settings/anywhere";
import { Clients } from "./settings/clients";
import { Data } from "./settings/data";
import { Index, Problems, Vault } from "./settings/status";

const EVERY_MS = 5_000;

export default function Settings() {
  const [health, setHealth] = useState<Health | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [count, setCount] = useState(0);
  const changed = changes.value;

  useEffect(() => {
    const load = (): void => {
      get<Health>("/health").then(
        (found) => {
          setHealth(found);
          setError(null);
        },
        (why) => setError(explained(why)),
      );
    };
    load();
    const timer = setInterval(() => document.hidden || load(), EVERY_MS);
    return () => clearInterval(timer);
  }, [changed, count]);

  return (
    <>
      <h1>{shell("settings")}</h1>
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
      <Appearance />
      {health && (
        <>
          <Problems health={health} />
          <Vault health={health} />
          <Index health={health} changed={() => setCount((n) => n + 1)} />
        </>
      )}
      <Anywhere />
      <Clients />
      <Data />
      <Keyboard />
      <Part title={settings("about")}>
        <dl class="facts-list">
          <div>
            <dt>{settings("version")}</dt>
            <dd>{health?.version ?? "…"}</dd>
          </div>
        </dl>
        <button type="button" onClick={() => signOut()}>
          {settings("signOut")}
        </button>
      </Part>
    </>
  );
}

export function Part({ title, children }: { title: string; children: ComponentChildren }) {
  const id = useId();
  return (
    <section class="part card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

function Appearance() {
  const language = useId();
  return (
    <Part title={settings("appearance")}>
      <fieldset class="choice">
        <legend>{settings("theme")}</legend>
        {(["system", "light", "dark"] as Theme[]).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="theme"
              value={one}
              checked={theme.value === one}
              onChange={() => chooseTheme(one)}
            />
            {settings(one as "system" | "light" | "dark")}
          </label>
        ))}
      </fieldset>
      <div class="row">
        <label for={language}>{settings("language")}</label>
        <select
          id={language}
          value={languageChoice.value}
          onChange={(event) => chooseLanguage(event.currentTarget.value as LanguageChoice)}
        >
          <option value="system">{settings("system")}</option>
          <option value="en" lang="en">
            English
          </option>
          <option value="fr" lang="fr">
            Français
          </option>
        </select>
      </div>
    </Part>
  );
}

function Keyboard() {
  const rows: [string[], string][] = [
    [["/"], settings("keySearch")],
    [["↑", "↓"], settings("keyMove")],
    [["Enter"], settings("keyOpen")],
    [["Esc"], settings("keyClose")],
    [["Ctrl", "Enter"], settings("keySave")],
  ];
  return (
    <Part title={settings("keys")}>
      <dl class="facts-list">
        {rows.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Part>
  );
}
