/** Navigation: screens, the most recent threads, and settings of the page. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { isReadOnly, keyAsked, shared } from "../api.js";
import { isHelpShown } from "../keys.js";
import { href, place } from "../router.js";
import { hello } from "../state/hello.js";
import { fold, isFolded, sidebar } from "../state/layout.js";
import { recent, waitingCount } from "../state/recent.js";
import { server } from "../state/server.js";
import { type ListedThread, titleOf } from "../state/threads.js";
import { type Theme, theme, THEMES } from "../theme.js";
import { strings } from "../strings.js";
import { CopyMark, StatusShape } from "./common.js";
import { Icon, type IconName } from "./icons.js";
import { isPaletteShown } from "./palette.js";
import { Reloaded } from "./problems.js";
import { Splitter } from "./splitter.js";
import { ageText, visible } from "./text.js";

const TITLES = {
  run: strings.run,
  inbox: strings.inbox,
  threads: strings.threads,
  runs: strings.allRuns.title,
  store: strings.memory.title,
  graphs: strings.graphs,
  usage: strings.usage.title,
  shadow: strings.shadow.title,
} as const satisfies Partial<Record<IconName, string>>;
type Screen = keyof typeof TITLES;

const ALL: readonly Screen[] = ["run", "inbox", "threads", "runs", "store", "graphs", "usage", "shadow"];
/** Read-only pages cannot run graphs. */
const SCREENS = ALL.filter((each) => !isReadOnly || (each !== "run" && each !== "inbox"));

export const screenTitle = (screen: string): string =>
  SCREENS.filter((each) => each === screen).map((each) => TITLES[each])[0] ?? "";

export function Sidebar() {
  const info = server.value.value;
  return (
    <header class="bar">
      <div class="brand-row">
        <span class="brand">{info ? visible(info.name) : "graph-serve"}</span>
        {!shared && <FoldButton />}
      </div>
      {!shared && <Find />}
      {!shared && <Navigation />}
      {!shared && !isFolded.value && <RecentThreads />}
      <PageSettings />
      {!shared && <Splitter pane={sidebar} side="left" label={strings.layout.sidebar} />}
    </header>
  );
}

const FoldButton = () => (
  <button
    type="button"
    class="icon-button fold-button"
    aria-expanded={!isFolded.value}
    aria-label={strings.layout.fold}
    title={strings.layout.foldHint}
    data-fold
    onClick={() => fold(!isFolded.value)}
  >
    <Icon name="fold" />
  </button>
);

const Find = () => (
  <button
    type="button"
    class="find"
    title={strings.palette.open}
    onClick={() => (isPaletteShown.value = true)}
  >
    <Icon name="search" />
    <span class="folds">{strings.palette.open}</span> <kbd class="folds">{strings.palette.keys}</kbd>
  </button>
);

function Navigation() {
  const [screen] = place.value.path;
  const waiting = waitingCount.value;
  const screens = SCREENS.filter((each) => each !== "shadow" || hello.value?.has_shadow);
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const link = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (link) scrollToLink(link);
  }, [screen, screens.length, waiting > 0]);
  return (
    <nav aria-label={strings.navigation} ref={row}>
      {screens.map((each) => (
        <a
          key={each}
          href={href([each])}
          aria-current={screen === each ? "page" : undefined}
          title={isFolded.value ? TITLES[each] : undefined}
          onFocus={({ currentTarget }) =>
            // A press must not move the link from under the finger.
            currentTarget.matches(":focus-visible") && scrollToLink(currentTarget)
          }
        >
          <Icon name={each} />
          <span class="folds">{TITLES[each]}</span>
          {each === "inbox" && waiting > 0 && (
            <span class="nav-count">
              {waiting.toLocaleString("en")}
              <span class="visually-hidden"> {strings.questions.wait}</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

/** Shows a link of the navigation: on phones, the row scrolls if it is wider than the page. */
function scrollToLink({ parentElement: row, offsetLeft, offsetWidth }: HTMLElement): void {
  row?.scrollTo({ left: offsetLeft - (row.clientWidth - offsetWidth) / 2 });
}

function RecentThreads() {
  const [screen = "", current] = place.value.path;
  const target = screen === "run" && !isReadOnly ? "run" : "threads";
  if (recent.value.length === 0) return null;
  return (
    <section class="recent" aria-label={strings.layout.recent}>
      <h2>
        {strings.layout.recent}
        {!isReadOnly && (
          <a
            class="icon-button"
            href={href(["run"])}
            aria-label={strings.runs.fresh}
            title={strings.runs.fresh}
          >
            <Icon name="plus" />
          </a>
        )}
      </h2>
      <ul>
        {recent.value.map((thread) => (
          <li key={thread.thread_id}>
            <RecentThread thread={thread} target={target} isCurrent={thread.thread_id === current} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface RecentThreadProps {
  thread: ListedThread;
  target: string;
  isCurrent: boolean;
}

function RecentThread({ thread, target, isCurrent }: RecentThreadProps) {
  const title = titleOf(thread);
  const text =
    title === "" ? thread.thread_id.slice(0, 13) : visible(title.slice(0, 100)).replaceAll("\n", " ");
  return (
    <a href={href([target, thread.thread_id])} title={text} aria-current={isCurrent ? "true" : undefined}>
      <StatusShape status={thread.status} />
      <span class="visually-hidden">{strings.status[thread.status]}</span>
      <span class={`one-line ${title === "" ? "dim" : ""}`}>{text}</span>
      <CopyMark thread={thread} />
      <time class="dim" dateTime={thread.updated_at}>
        {ageText(thread.updated_at)}
      </time>
    </a>
  );
}

const PageSettings = () => (
  <div class="bar-end">
    <Reloaded />
    <label class="theme icon-button" title={strings.theme.title}>
      <Icon name="theme" />
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
      <button
        type="button"
        class="icon-button"
        aria-label={strings.key.button}
        title={strings.key.button}
        onClick={() => (keyAsked.value = "wished")}
      >
        <Icon name="key" />
      </button>
    )}
    <button
      type="button"
      class="icon-button"
      aria-label={strings.help.button}
      title={strings.help.button}
      onClick={() => (isHelpShown.value = true)}
    >
      <Icon name="help" />
    </button>
  </div>
);
