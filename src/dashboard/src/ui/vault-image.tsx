// An image of the vault: fetched with the token, shown as a blob, let go when it is off the page.

import { useEffect, useState } from "preact/hooks";
import { request } from "../api";
import { content } from "../words/content";

export const IMAGE = /\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i;

export function VaultImage({ target, from, label }: { target: string; from: string; label: string }) {
  const [source, setSource] = useState<string | null>(null);
  const [missing, setMissing] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    let made = "";
    const query = new URLSearchParams({ target, from });
    request(`/image?${query}`, { signal: stop.signal })
      .then((response) => response.blob())
      .then((blob) => {
        if (stop.signal.aborted) return;
        made = URL.createObjectURL(blob);
        setSource(made);
      })
      .catch(() => {
        if (!stop.signal.aborted) setMissing(true);
      });
    return () => {
      stop.abort();
      if (made) URL.revokeObjectURL(made);
    };
  }, [target, from]);
  if (missing) return <span class="soft">{content("noImage", { name: label })}</span>;
  return source ? <img src={source} alt={label} /> : <span class="soft">{label}</span>;
}
