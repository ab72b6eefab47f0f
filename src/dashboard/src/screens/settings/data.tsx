// Everything out as one file, and in again.

import { useRef, useState } from "preact/hooks";
import { request } from "../../api";
import { importAll, readExport } from "../../importing";
import { useBusy } from "../../ui/busy";
import { failed, toast } from "../../ui/toast";
import { settings } from "../../words/settings";
import { Part } from "../settings";

export function Data() {
  const file = useRef<HTMLInputElement>(null);
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const [outcome, setOutcome] = useState<string | null>(null);
  const busy = useBusy();

  async function download(): Promise<void> {
    const blob = await (await request("/export")).blob();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `second-brain-${new Date().toISOString().slice(0, 10)}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    toast(settings("exported"));
  }

  async function take(chosen: File): Promise<void> {
    setOutcome(null);
    const found = readExport(await chosen.text());
    if (!found) return toast(settings("notExport"), { bad: true });
    const total = found.entries.length;
    try {
      setProgress({ done: 0, total });
      const { made, known } = await importAll(found, (done) => setProgress({ done, total }));
      setOutcome(settings("imported", { n: made, known }));
    } finally {
      setProgress(null);
    }
  }

  return (
    <Part title={settings("data")}>
      <p class="soft">{settings("exportHint")}</p>
      <button type="button" disabled={busy.now} onClick={() => void busy.run(download).catch(failed)}>
        {settings("export")}
      </button>
      <p class="soft">{settings("importHint")}</p>
      <input
        ref={file}
        class="unseen"
        type="file"
        accept="application/json,.json"
        tabIndex={-1}
        aria-label={settings("import")}
        onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          event.currentTarget.value = "";
          if (chosen) void busy.run(() => take(chosen)).catch(failed);
        }}
      />
      <button type="button" disabled={busy.now} onClick={() => file.current?.click()}>
        {settings("import")}
      </button>
      <p role="status">
        {progress ? settings("importing", progress) : (outcome ?? "")}
      </p>
    </Part>
  );
}
