/** The Studio: one page over the server's public interface. */
import { render } from "preact";
import { useEffect } from "preact/hooks";
import type { ServerInfo } from "../src/models/info.js";
import { ask, keyAsked, note } from "./api.js";
import { isHelpShown, listenForKeys } from "./keys.js";
import { Empty } from "./parts/common.js";
import { HelpDialog, KeyDialog } from "./parts/dialogs.js";
import { visible } from "./parts/text.js";
import { href, place } from "./router.js";
import { Graph, Graphs } from "./screens/graphs.js";
import { Thread } from "./screens/thread.js";
import { Threads } from "./screens/threads.js";
import { load, loading } from "./state/loading.js";
import { type Theme, theme, THEMES } from "./theme.js";
import { words } from "./words.js";

const info = loading<ServerInfo>();

function App() {
  const [screen = "", id] = place.value.path;
  useEffect(() => void load(info, async () => (await ask<ServerInfo>("GET", "/info")).body), []);
  useEffect(() => {
    document.title = [id ?? words[screen as "threads"] ?? "", words.studio].filter(Boolean).join(" · ");
  }, [screen, id]);
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {words.skip}
      </a>
      <Bar screen={screen} />
      {note !== undefined && (
        <aside class="note" aria-label={words.note}>
          {visible(note)}
        </aside>
      )}
      <Screen screen={screen} id={id} />
      <KeyDialog />
      <HelpDialog />
    </>
  );
}

/** The hash is the router's: what it names is not scrolled to. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Screen({ screen, id }: { screen: string; id: string | undefined }) {
  if (screen === "threads") return id === undefined ? <Threads /> : <Thread />;
  if (screen === "graphs") return id === undefined ? <Graphs /> : <Graph id={id} key={id} />;
  return (
    <main id="content" class="screen narrow" tabIndex={-1}>
      <h1>{words.studio}</h1>
      <Empty title={words.missing} />
      <a href={href(["threads"])}>{words.missingHint}</a>
    </main>
  );
}

const SCREENS = ["threads", "graphs"] as const;

function Bar({ screen }: { screen: string }) {
  const server = info.value.value;
  return (
    <header class="bar">
      <span class="brand">{server ? visible(server.name) : "graph-serve"}</span>
      <nav aria-label={words.navigation}>
        {SCREENS.map((each) => (
          <a key={each} href={href([each])} aria-current={screen === each ? "page" : undefined}>
            {words[each]}
          </a>
        ))}
      </nav>
      <span class="bar-end">
        <label class="theme">
          <span class="visually-hidden">{words.theme.title}</span>
          <select
            value={theme.value}
            onChange={({ currentTarget }) => (theme.value = currentTarget.value as Theme)}
          >
            {THEMES.map((each) => (
              <option key={each} value={each}>
                {words.theme[each]}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="small" onClick={() => (keyAsked.value = "missing")}>
          {words.key.button}
        </button>
        <button type="button" class="small" onClick={() => (isHelpShown.value = true)}>
          {words.help.button}
        </button>
      </span>
    </header>
  );
}

listenForKeys();
const app = document.getElementById("app");
if (app) {
  // The static bar is there until this one is.
  app.replaceChildren();
  render(<App />, app);
}
