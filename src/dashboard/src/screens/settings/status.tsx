// How the brain is: what needs attention, the vault and its rule, the index and its models.

import { useState } from "preact/hooks";
import { post } from "../../api";
import type { Health } from "../../types";
import { language } from "../../i18n";
import { failed, toast } from "../../ui/toast";
import { settings } from "../../words/settings";
import { shell } from "../../words/shell";
import { Part } from "../settings";

type Fact = [label: string, value: string | number];

function Facts({ facts }: { facts: Fact[] }) {
  return (
    <dl class="facts-list">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <bdi>{typeof value === "number" ? value.toLocaleString(language.value) : value}</bdi>
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Problems({ health }: { health: Health }) {
  return (
    <Part title={settings("problems")}>
      {health.problems.length === 0 && <p class="soft">{settings("noProblems")}</p>}
      <ul class="problems">
        {health.problems.map((problem, i) => (
          <li key={i}>
            <p dir="auto">{problem.message}</p>
            <p class="soft" dir="auto">
              {problem.hint}
            </p>
          </li>
        ))}
      </ul>
    </Part>
  );
}

export function Vault({ health: { vault } }: { health: Health }) {
  const { rule } = vault;
  const kept = rule ? [...rule.exclude, ...rule.templates, ...rule.ignored] : [];
  return (
    <Part title={settings("vault")}>
      <Facts
        facts={[
          [settings("folder"), vault.path],
          [settings("state"), vault.ok ? settings("online") : settings("offline", { why: vault.offline ?? "" })],
          [settings("notes"), vault.notes],
          [settings("memories"), vault.memories],
          [settings("watching"), settings(vault.watching ? "watchingYes" : "watchingNo")],
        ]}
      />
      {rule && (
        <>
          <h3>{settings("rule")}</h3>
          <p class="badges">
            {settings(rule.mode === "all" ? "ruleAll" : "ruleTagged")}
            {rule.mode !== "all" &&
              rule.tags.map((tag) => (
                <span key={tag} class="tag">
                  <bdi>#{tag}</bdi>
                </span>
              ))}
          </p>
          {kept.length > 0 && <Facts facts={[[settings("excluded"), kept.join(", ")]]} />}
        </>
      )}
    </Part>
  );
}

export function Index({ health, changed }: { health: Health; changed: () => void }) {
  const { index, embedding } = health;
  const [asking, setAsking] = useState(false);
  const progress = index.progress ?? { done: 0, total: 0 };
  const state = index.rebuilding
    ? settings("rebuilding")
    : index.scanning
      ? settings("scanning", progress)
      : index.ok
        ? settings("ready")
        : (index.last_error ?? index.state);

  async function reindex(): Promise<void> {
    setAsking(false);
    try {
      await post("/reindex", {});
      toast(settings("reindexBegun"));
      changed();
    } catch (error) {
      failed(error);
    }
  }

  const why = embedding.notice ?? embedding.state;
  return (
    <Part title={settings("index")}>
      <Facts
        facts={[
          [settings("state"), state],
          [settings("pending"), index.pending],
          [settings("passages"), index.rows ?? 0],
          [settings("size"), bytes(index.disk_bytes ?? 0)],
          [settings("model"), embedding.model ?? "–"],
          [settings("modelState"), embedding.ok ? settings("modelOn") : settings("modelOff", { why })],
          [settings("languageModel"), languageModel(health.llm)],
        ]}
      />
      {asking ? (
        <div class="notice stack" role="alertdialog" aria-label={settings("reindex")}>
          <p>{settings("reindexSure")}</p>
          <div class="row">
            <button type="button" class="primary" autofocus onClick={() => void reindex()}>
              {settings("reindexYes")}
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              {shell("cancel")}
            </button>
          </div>
        </div>
      ) : (
        <button type="button" onClick={() => setAsking(true)}>
          {settings("reindex")}
        </button>
      )}
    </Part>
  );
}

function languageModel(llm: Health["llm"]): string {
  if (!llm?.configured) return settings("noLanguageModel");
  const today = settings("callsToday", { n: llm.calls_today ?? 0 });
  const state = llm.ok ? "" : ` (${settings("modelOff", { why: llm.error ?? "" })})`;
  return `${llm.model ?? ""}${state} · ${today}`;
}

function bytes(n: number): string {
  const mega = n / 1_000_000;
  const shown = mega < 10 ? mega.toFixed(1) : Math.round(mega);
  return `${Number(shown).toLocaleString(language.value)} MB`;
}
