// The applications that are let in, and shutting one out.

import { useEffect, useState } from "preact/hooks";
import { ApiError, get, post } from "../../api";
import type { Client } from "../../types";
import { ago } from "../../ui/dates";
import { explained, failed, toast } from "../../ui/toast";
import { settings } from "../../words/settings";
import { shell } from "../../words/shell";
import { Part } from "../settings";

export function Clients() {
  const [clients, setClients] = useState<Client[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [asking, setAsking] = useState<string | null>(null);

  function load(): void {
    get<{ clients: Client[] }>("/clients").then(
      (answer) => setClients(answer.clients),
      // Who signed in with the token of an application may not see the others.
      (why) => setError(why instanceof ApiError && why.status === 404 ? null : explained(why)),
    );
  }
  useEffect(load, []);

  async function revoke(client: Client): Promise<void> {
    setAsking(null);
    try {
      await post("/clients/revoke", { id: client.id });
      toast(settings("revoked", { name: client.name }));
    } catch (why) {
      failed(why);
    }
    load();
  }

  return (
    <Part title={settings("clients")}>
      {error && <p class="problem">{error}</p>}
      {clients?.length === 0 && <p class="soft">{settings("noClients")}</p>}
      <ul class="clients">
        {clients?.map((client) => (
          <li key={client.id}>
            <div>
              <strong>
                <bdi>{client.name}</bdi>
              </strong>
              <p class="soft">
                {settings("logins", { n: client.logins })}
                {" · "}
                {client.last_used === null
                  ? settings("neverUsed")
                  : settings("lastUsed", { when: ago(client.last_used) })}
              </p>
            </div>
            {asking === client.id ? (
              <div class="row" role="alertdialog" aria-label={settings("revokeSure", { name: client.name })}>
                <span>{settings("revokeSure", { name: client.name })}</span>
                <button type="button" class="danger" autofocus onClick={() => void revoke(client)}>
                  {settings("revoke")}
                </button>
                <button type="button" onClick={() => setAsking(null)}>
                  {shell("cancel")}
                </button>
              </div>
            ) : (
              <button
                type="button"
                aria-label={settings("revokeOne", { name: client.name })}
                onClick={() => setAsking(client.id)}
              >
                {settings("revoke")}
              </button>
            )}
          </li>
        ))}
      </ul>
    </Part>
  );
}
