// The frame: the sign-in page, or the navigation with the screen of the address.

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { useEffect } from "preact/hooks";
import { connected } from "./live";
import { MemoryPanel } from "./memory/panel";
import { address, go, route } from "./route";
import { SCREENS } from "./screens";
import { signedIn, signOut } from "./session";
import { SignIn } from "./sign-in";
import { Icon } from "./ui/icons";
import { Toasts } from "./ui/toast";
import { shell } from "./words/shell";

const loaded = signal<Record<string, ComponentType>>({});
const failure = signal<string | null>(null);

export function App() {
  return (
    <>
      {signedIn.value ? <Frame /> : <SignIn />}
      <Toasts />
    </>
  );
}

function Frame() {
  const { screen, params } = route.value;
  const current = SCREENS.find((s) => s.name === screen) ?? SCREENS[0]!;
  useEffect(() => {
    document.title = `${shell(current.name)} · Second Brain`;
  });
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        {shell("skip")}
      </a>
      <header class="side">
        <a class="brand" href={address("recall")}>
          <Mark />
          <span>Second Brain</span>
        </a>
        <nav aria-label={shell("navigation")}>
          {SCREENS.map((s) => (
            <a key={s.name} href={address(s.name)} aria-current={s === current ? "page" : undefined}>
              <Icon name={s.icon} />
              <span>{shell(s.name)}</span>
            </a>
          ))}
        </nav>
        <div class="foot">
          <span class={connected.value ? "pulse on" : "pulse"}>
            {connected.value ? shell("live") : shell("waiting")}
          </span>
          <button type="button" class="plain small" onClick={() => signOut()}>
            <Icon name="door" size={18} />
            <span>{shell("signOut")}</span>
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1} class={`screen-${current.name}`}>
        <Outlet key={current.name} name={current.name} />
      </main>
      {params.memory && <MemoryPanel key={params.memory} id={params.memory} />}
    </div>
  );
}

function Outlet({ name }: { name: string }) {
  const [error, reset] = useErrorBoundary();
  const screen = SCREENS.find((s) => s.name === name)!;
  const load = () => {
    failure.value = null;
    screen.load().then(
      (module) => (loaded.value = { ...loaded.value, [name]: module.default }),
      (why) => (failure.value = String(why)),
    );
  };
  useEffect(() => {
    if (!loaded.value[name]) load();
  }, [name]);
  const why = error ? String(error) : failure.value;
  if (why)
    return (
      <div class="empty" role="alert">
        <p>{shell("crashed", { why })}</p>
        <button type="button" onClick={() => (error ? reset() : location.reload())}>
          {shell("again")}
        </button>
      </div>
    );
  const Component = loaded.value[name];
  return Component ? <Component /> : <p class="empty soft">{shell("loading")}</p>;
}

export function Mark() {
  return (
    <svg class="mark" width="30" height="30" viewBox="0 0 64 64" aria-hidden="true">
      <rect width="64" height="64" rx="16" />
      <path d="M20 24 34 18M20 24l4 19M34 18l11 13M24 43l21-12" />
      <circle cx="20" cy="24" r="6" />
      <circle cx="35" cy="18" r="4.5" />
      <circle cx="45" cy="32" r="6.5" />
      <circle cx="24" cy="44" r="5" />
    </svg>
  );
}

// "/" leads to the search from anywhere, unless the user is writing.
addEventListener("keydown", (event) => {
  const target = event.target as HTMLElement;
  const writing = target.closest("input, textarea, select, [contenteditable], dialog[open]");
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!signedIn.value) return;
  event.preventDefault();
  const field = document.getElementById("search");
  if (field) field.focus();
  else go("recall", { focus: "1" });
});
