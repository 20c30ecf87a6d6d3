import { render } from "preact";
import { useEffect } from "preact/hooks";
import { isReadOnly, keyAsked, note, shared } from "./api.js";
import { isHelpShown, listenForKeys } from "./keys.js";
import { Empty } from "./parts/common.js";
import { CaseDialog } from "./parts/case-dialog.js";
import { HelpDialog, KeyDialog } from "./parts/dialogs.js";
import { later } from "./parts/later.js";
import { Palette } from "./parts/palette.js";
import { Problems, Reloaded } from "./parts/problems.js";
import { visible } from "./parts/text.js";
import { UndoBar } from "./parts/undo.js";
import { href, place } from "./router.js";
import { Compare } from "./screens/compare.js";
import { Graph, Graphs } from "./screens/graphs.js";
import { Inbox } from "./screens/inbox.js";
import { RunScreen } from "./screens/run.js";
import { Thread } from "./screens/thread.js";
import { Threads } from "./screens/threads.js";
import { listenForHelp } from "./state/helper.js";
import { hello } from "./state/hello.js";
import { readServer, server } from "./state/server.js";
import { shown } from "./state/shown.js";
import { type Theme, theme, THEMES } from "./theme.js";
import { strings } from "./strings.js";

function App() {
  const [screen = "", id] = place.value.path;
  useEffect(() => void readServer(), []);
  useEffect(() => {
    document.title = [id ?? titleOf(screen), strings.studio].filter(Boolean).join(" · ");
  }, [screen, id]);
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {strings.skip}
      </a>
      <Bar screen={screen} />
      <Note />
      <Problems />
      <Screen screen={screen} id={id} />
      <KeyDialog />
      <HelpDialog />
      <CaseDialog />
      <Palette />
      <UndoBar />
    </>
  );
}

/** Notice about the visible values, mainly that some are hidden from clients. */
function Note() {
  const own = hello.value?.shows;
  const isOther = own !== undefined && shown.value !== own;
  const text = isOther ? strings.shown.note[own === "all" ? "clients" : "all"] : note && visible(note);
  if (text === undefined) return null;
  return (
    <aside class="note" aria-label={strings.note} aria-live="polite">
      {text}
    </aside>
  );
}

const titleOf = (screen: string): string =>
  SCREENS.filter((each) => each === screen).map((each) => TITLES[each])[0] ?? "";

/** Move the focus by script: a link to an element id would overwrite the router's hash. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById("content")?.focus();
}

function Screen({ screen, id }: { screen: string; id: string | undefined }) {
  if (screen === "run" && !isReadOnly) return <RunScreen />;
  if (screen === "inbox" && !isReadOnly) return <Inbox />;
  if (screen === "threads") return id === undefined ? <Threads /> : <Thread />;
  if (screen === "compare") return <Compare key={place.value.path.join("/")} />;
  if (screen === "runs") return <Runs />;
  if (screen === "store") return <Memory />;
  if (screen === "graphs") return id === undefined ? <Graphs /> : <Graph id={id} key={id} />;
  return (
    <main id="content" class="screen narrow" tabIndex={-1}>
      <h1>{strings.studio}</h1>
      <Empty title={strings.missing} />
      <a href={href(["threads"])}>{strings.missingHint}</a>
    </main>
  );
}

const Runs = later(async () => (await import("./screens/runs.js")).Runs);
const Memory = later(async () => (await import("./screens/memory.js")).Memory);

const TITLES = {
  run: strings.run,
  inbox: strings.inbox,
  threads: strings.threads,
  runs: strings.allRuns.title,
  store: strings.memory.title,
  graphs: strings.graphs,
};
const ALL = [
  "run",
  "inbox",
  "threads",
  "runs",
  "store",
  "graphs",
] as const satisfies readonly (keyof typeof TITLES)[];
const SCREENS = isReadOnly ? ALL.filter((each) => each !== "run" && each !== "inbox") : ALL;

function Bar({ screen }: { screen: string }) {
  const told = server.value.value;
  return (
    <header class="bar">
      <span class="brand">{told ? visible(told.name) : "graph-serve"}</span>
      {!shared && (
        <nav aria-label={strings.navigation}>
          {SCREENS.map((each) => (
            <a key={each} href={href([each])} aria-current={screen === each ? "page" : undefined}>
              {titleOf(each)}
            </a>
          ))}
        </nav>
      )}
      <span class="bar-end">
        <Reloaded />
        <label class="theme">
          <span class="visually-hidden">{strings.theme.title}</span>
          <select
            value={theme.value}
            onChange={({ currentTarget }) => (theme.value = currentTarget.value as Theme)}
          >
            {THEMES.map((each) => (
              <option key={each} value={each}>
                {strings.theme[each]}
              </option>
            ))}
          </select>
        </label>
        {!shared && (
          <button type="button" class="small" onClick={() => (keyAsked.value = "wished")}>
            {strings.key.button}
          </button>
        )}
        <button type="button" class="small" onClick={() => (isHelpShown.value = true)}>
          {strings.help.button}
        </button>
      </span>
    </header>
  );
}

listenForKeys();
listenForHelp();
const app = document.getElementById("app");
if (app) {
  // Remove the static header from index.html only now, to avoid a flash of an empty page.
  app.replaceChildren();
  render(<App />, app);
}
