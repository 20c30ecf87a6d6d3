import { render } from "preact";
import { useEffect } from "preact/hooks";
import { isReadOnly, keyAsked, note, shared } from "./api.js";
import { focusContent, useFocusAfterNavigation } from "./focus.js";
import { listenForKeys } from "./keys.js";
import { Empty } from "./components/common.js";
import { CaseDialog } from "./components/case-dialog.js";
import { HelpDialog, KeyDialog } from "./components/dialogs.js";
import { later } from "./components/later.js";
import { Palette } from "./components/palette.js";
import { Problems } from "./components/problems.js";
import { screenTitle, Sidebar } from "./components/sidebar.js";
import { keepTimes, visible } from "./components/text.js";
import { UndoBar } from "./components/undo.js";
import { href, place } from "./router.js";
import { Compare } from "./screens/compare.js";
import { Graph, Graphs } from "./screens/graphs.js";
import { Inbox } from "./screens/inbox.js";
import { RunScreen } from "./screens/run.js";
import { Thread } from "./screens/thread.js";
import { Threads } from "./screens/threads.js";
import { followChanges, isUnreachable } from "./state/changes.js";
import { isHelloAwaited } from "./state/hello.js";
import { listenForHelp } from "./state/helper.js";
import { isFolded, sidebar } from "./state/layout.js";
import { followRecent, recent, waitingCount } from "./state/recent.js";
import { readServer } from "./state/server.js";
import { shown } from "./state/shown.js";
import { titleOf } from "./state/threads.js";
import { strings } from "./strings.js";

function App() {
  const [screen = "", id] = place.value.path;
  useEffect(() => void readServer(), []);
  useEffect(follow, []);
  useFocusAfterNavigation(place.value.path.join("/"), JSON.stringify(place.value.query));
  const [waiting, title] = [waitingCount.value, pageTitle(screen, id)];
  useEffect(() => {
    const name = [title, strings.studio].filter(Boolean).join(" · ");
    document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  }, [title, waiting]);
  return (
    <>
      <a class="skip" href="#content" onClick={skip}>
        {strings.skip}
      </a>
      <div
        class={`shell ${shared ? "is-shared" : ""} ${isFolded.value ? "is-folded" : ""}`}
        style={{ "--sidebar": `${sidebar.width.value}px` }}
      >
        <Sidebar />
        <div class="page">
          <Unreachable />
          <Note />
          <Problems />
          <Screen screen={screen} id={id} />
        </div>
      </div>
      <KeyDialog />
      <HelpDialog />
      <CaseDialog />
      <Palette />
      <UndoBar />
    </>
  );
}

/** Keeps lists and counts up to date. A saved page has no server. */
function follow(): (() => void) | undefined {
  if (shared) return undefined;
  const leaving = new AbortController();
  void followChanges(leaving.signal);
  const stop = followRecent();
  return () => {
    leaving.abort();
    stop();
  };
}

function pageTitle(screen: string, id: string | undefined): string {
  const thread = recent.value.find(({ thread_id }) => thread_id === id);
  return (thread && visible(titleOf(thread).slice(0, 60))) || (id ?? screenTitle(screen));
}

/** What the page shows may be outdated, and nothing can be sent. */
const Unreachable = () => (
  <div role="status">
    {isUnreachable.value && keyAsked.value === "no" && (
      <p class="note">
        {strings.fault.network} {strings.fault.hint}
      </p>
    )}
  </div>
);

/** Notice about the values that the page shows. */
function Note() {
  const text = shown.value === "clients" ? strings.shown.clientsNote : note && visible(note);
  if (text === undefined) return null;
  return (
    <aside class="note" aria-label={strings.note} aria-live="polite">
      {text}
    </aside>
  );
}

/** Move the focus by script: a link to an element id would overwrite the router's hash. */
function skip(event: Event): void {
  event.preventDefault();
  focusContent();
}

/** Screens of a saved page; scripts/build-pages.mjs leaves the others out. */
const SAVED = ["threads", "compare"];

function Screen({ screen, id }: { screen: string; id: string | undefined }) {
  if (isHelloAwaited.value) return <main id="content" class="screen" tabIndex={-1} aria-busy="true" />;
  if (shared && !SAVED.includes(screen)) return <Missing />;
  if (screen === "run" && !isReadOnly) return <RunScreen />;
  if (screen === "inbox" && !isReadOnly) return <Inbox />;
  if (screen === "threads") return id === undefined ? <Threads /> : <Thread />;
  if (screen === "compare") return <Compare key={place.value.path.join("/")} />;
  if (screen === "runs") return <Runs />;
  if (screen === "store") return <Memory />;
  if (screen === "usage") return <Usage />;
  if (screen === "graphs") return id === undefined ? <Graphs /> : <Graph key={id} />;
  if (screen === "shadow") return <Shadow />;
  return <Missing />;
}

function Missing() {
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
const Shadow = later(async () => (await import("./screens/shadow.js")).Shadow);
const Usage = later(async () => (await import("./screens/usage.js")).UsageScreen);

listenForKeys();
keepTimes();
listenForHelp();
const app = document.getElementById("app");
if (app) {
  // Remove the static header from index.html only now, to avoid a flash of an empty page.
  app.replaceChildren();
  render(<App />, app);
}
