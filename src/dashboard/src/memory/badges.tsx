// The small facts of a memory in one line: when, from whom, what kind, which status, which tags.

import { ago, exact, iso } from "../ui/dates";
import { TagLink } from "../ui/markdown";
import { shell } from "../words/shell";
import type { Kind, Status } from "../types";

interface Props {
  created: number;
  source: string;
  kind?: Kind | null | undefined;
  status?: Status | null | undefined;
  tags: readonly string[];
}

const MOST_TAGS = 8;

export function Badges({ created, source, kind, status, tags }: Props) {
  return (
    <p class="badges">
      <time dateTime={iso(created)} title={exact(created)}>
        {ago(created)}
      </time>
      <span class="source">
        <bdi>{source}</bdi>
      </span>
      {kind && <span>{shell(kind)}</span>}
      {status && <span class={`status ${status}`}>{shell(status)}</span>}
      {tags.slice(0, MOST_TAGS).map((tag) => (
        <TagLink key={tag} tag={tag} />
      ))}
      {tags.length > MOST_TAGS && <span>+{tags.length - MOST_TAGS}</span>}
    </p>
  );
}
