// Review: what only the user can decide, and what the user should know of the notes.

import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useId, useState } from "preact/hooks";
import { onChange } from "../live";
import { type LooseLink, type Waiting, waiting } from "../review/data";
import { DraftCard } from "../review/draft-card";
import { PairCard } from "../review/pair-card";
import { memoryAddress } from "../route";
import type { Problem } from "../types";
import { Icon } from "../ui/icons";
import { explained } from "../ui/toast";
import { review as words } from "../words/review";
import { shell } from "../words/shell";

const PAUSE_MS = 800;

export default function Review() {
  const [found, setFound] = useState<Waiting | null>(null);
  const [failure, setFailure] = useState("");
  const load = useCallback(() => {
    waiting().then(
      (all) => {
        setFailure("");
        setFound(all);
      },
      (why) => setFailure(explained(why)),
    );
  }, []);

  useEffect(() => {
    let pause = 0;
    load();
    const stop = onChange(() => {
      clearTimeout(pause);
      pause = window.setTimeout(load, PAUSE_MS);
    });
    return () => {
      stop();
      clearTimeout(pause);
    };
  }, []);

  return (
    <>
      <h1>{shell("review")}</h1>
      <p class="soft">{words("lead")}</p>
      {failure && (
        <p class="problem" role="alert">
          {failure}
        </p>
      )}
      {!found && !failure && <p class="empty soft">{shell("loading")}</p>}
      {found && <Everything found={found} done={load} />}
    </>
  );
}

function Everything({ found, done }: { found: Waiting; done: () => void }) {
  const { duplicates, contradictions, patterns, drafts, loose, looseTotal, problems } = found;
  const count = duplicates.length + contradictions.length + patterns.length + drafts.length;
  if (count + loose.length + problems.length === 0)
    return (
      <p class="empty" role="status">
        {words("allDone")}
      </p>
    );
  return (
    <>
      <Section title={words("contradictions")} count={contradictions.length}>
        <ul class="hits">
          {contradictions.map((pair) => (
            <PairCard key={pair.id} pair={pair} done={done} />
          ))}
        </ul>
      </Section>
      <Section title={words("duplicates")} count={duplicates.length}>
        <ul class="hits">
          {duplicates.map((pair) => (
            <PairCard key={pair.id} pair={pair} done={done} />
          ))}
        </ul>
      </Section>
      <Section title={words("patterns")} count={patterns.length} lead={words("patternsLead")}>
        <ul class="hits">
          {patterns.map((entry) => (
            <DraftCard key={entry.id} entry={entry} pattern done={done} />
          ))}
        </ul>
      </Section>
      <Section title={words("drafts")} count={drafts.length} lead={words("draftsLead")}>
        <ul class="hits">
          {drafts.map((entry) => (
            <DraftCard key={entry.id} entry={entry} pattern={false} done={done} />
          ))}
        </ul>
      </Section>
      <Section title={words("problems")} count={problems.length} lead={words("problemsLead")}>
        <ul class="problems">
          {problems.map((one) => (
            <ProblemRow key={`${one.kind} ${one.path} ${one.message}`} problem={one} />
          ))}
        </ul>
      </Section>
      <Section title={words("loose")} count={looseTotal} lead={words("looseLead")}>
        {looseTotal > loose.length && (
          <p class="soft">{words("looseMore", { shown: loose.length, total: looseTotal })}</p>
        )}
        <Loose links={loose} />
      </Section>
    </>
  );
}

interface SectionProps {
  title: string;
  count: number;
  lead?: string;
  children: ComponentChildren;
}

function Section({ title, count, lead, children }: SectionProps) {
  const id = useId();
  if (!count) return null;
  return (
    <section class="review-part" aria-labelledby={id}>
      <h2 id={id}>
        {title} <span class="soft">{count}</span>
      </h2>
      {lead && <p class="soft">{lead}</p>}
      {children}
    </section>
  );
}

function ProblemRow({ problem }: { problem: Problem }) {
  const name =
    problem.kind === "conflict-copy" || problem.kind === "two-versions"
      ? words("conflictCopy")
      : problem.kind.startsWith("unreadable")
        ? words("unreadable")
        : words("other");
  return (
    <li>
      <strong>{name}</strong> <bdi>{problem.message}</bdi>
      <p class="soft">{problem.hint}</p>
    </li>
  );
}

/** Memory by memory: one line for each, with what it links to in vain. */
function Loose({ links }: { links: LooseLink[] }) {
  const byMemory = Map.groupBy(links, (link) => link.id);
  return (
    <ul class="loose">
      {[...byMemory].map(([id, its]) => (
        <li key={id}>
          <a class="title" href={memoryAddress(id)} dir="auto">
            {its[0]!.title || shell("untitled")}
          </a>{" "}
          <span class="soft">→</span>{" "}
          {its.map((link, n) => (
            <span key={`${link.type} ${link.target}`}>
              {n > 0 && ", "}
              <bdi>{link.target}</bdi>
              {link.property && (
                <span class="soft"> ({words("inProperty", { name: link.property })})</span>
              )}
            </span>
          ))}{" "}
          <a class="out" href={its[0]!.url}>
            <Icon name="out" size={16} />
            {shell("obsidian")}
          </a>
        </li>
      ))}
    </ul>
  );
}
