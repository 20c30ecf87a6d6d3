/** Threads that wait for an answer, and the selected one with its last messages and a form. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { ThreadState } from "../../src/models/state.js";
import { type ApiError, ask } from "../api.js";
import { usePlaces } from "../components/asking.js";
import { Chat } from "../components/chat.js";
import { CopyMark, Empty, Fault, Waiting } from "../components/common.js";
import { CopyAs } from "../components/copy-as.js";
import { EndOfList } from "../components/end-of-list.js";
import { Output } from "../components/scene.js";
import { Questions } from "../components/questions.js";
import { Ago, visible } from "../components/text.js";
import { go, href, place } from "../router.js";
import { runAction, type RunWish } from "../state/copy-as.js";
import { GO_ON, placesText } from "../state/breakpoints.js";
import { onChange, throttled } from "../state/changes.js";
import { isStacked } from "../state/layout.js";
import { load, loading } from "../state/loading.js";
import { RunView } from "../state/run-view.js";
import { graphOf, type ListedThread, previewOf, readRow, SELECT, titleOf } from "../state/threads.js";
import { strings } from "../strings.js";

const PAGE = 50;
/** Maximum rows per request. */
const MOST = 1000;
/** Minimum interval of reloads after changes. */
const REFRESH_MS = 1000;

interface WaitingThreads {
  threads: ListedThread[];
  /** Null if the server does not report it. */
  total: number | null;
  hasMore: boolean;
}

const waiting = loading<WaitingThreads>();
const page = loading<void>();
/** Requested number of rows. */
let wanted = PAGE;
let generation = 0;

/** Reload the loaded rows, because some may have been answered. */
const read = () => {
  const mine = ++generation;
  const all = async (): Promise<WaitingThreads> => {
    const threads: ListedThread[] = [];
    for (;;) {
      const limit = Math.min(MOST, wanted - threads.length);
      const body = { status: "interrupted", limit, offset: threads.length, select: SELECT };
      const answer = await ask<ListedThread[]>("POST", "/threads/search", { body });
      threads.push(...answer.body);
      const hasMore = answer.headers.get("X-Pagination-Next") !== null;
      const total = answer.headers.get("X-Pagination-Total");
      if (!hasMore || threads.length >= wanted)
        return { threads, hasMore, total: total === null ? null : Number(total) };
    }
  };
  // Of two reads, the one that began later counts, whichever is answered first.
  return load(waiting, all, () => mine !== generation);
};

const readMore = () =>
  load(page, () => {
    wanted += PAGE;
    return read();
  });

export function Inbox() {
  useEffect(() => {
    wanted = PAGE;
    void read();
    return onChange(throttled(read, REFRESH_MS));
  }, []);
  return (
    <main id="content" class="screen list-screen is-inbox" tabIndex={-1}>
      <header class="screen-head">
        <h1>{strings.inbox}</h1>
        <button type="button" class="small" data-refresh onClick={() => void read()}>
          {strings.refresh}
        </button>
      </header>
      <List />
    </main>
  );
}

function List() {
  const { value: loaded } = waiting.value;
  const error = waiting.error.value;
  /** The thread that was shown without being named in the address: newer ones do not replace it. */
  const kept = useRef<string | undefined>(undefined);
  const fault = error && <Fault error={error} retry={() => void read()} />;
  if (!loaded) return fault ?? <Waiting />;
  const { threads, total, hasMore } = loaded;
  if (threads.length === 0)
    return (
      fault ?? (
        <Empty
          title={strings.questions.none}
          hint={strings.questions.noneHint}
          command="graph-serve threads list --status interrupted"
        />
      )
    );
  const named = place.value.path[1];
  const byId = (id: string | undefined) => threads.find(({ thread_id }) => thread_id === id);
  // Wide screens show the first one beside the list. Others show the list alone.
  const first = isStacked.value ? undefined : (byId(kept.current) ?? threads[0]);
  const chosen = named === undefined ? first : byId(named);
  const id = chosen?.thread_id ?? named;
  kept.current = id;
  return (
    <div class={`inbox-panes ${named === undefined ? "" : "is-chosen"}`}>
      <div class="inbox-list">
        {fault}
        <ul class="inbox" data-list>
          {threads.map((thread) => (
            <li key={thread.thread_id}>
              <Row thread={thread} isCurrent={thread === chosen} />
            </li>
          ))}
        </ul>
        <EndOfList
          count={threads.length}
          page={page}
          hasMore={hasMore}
          more={() => void readMore()}
          text={strings.questions.waiting(threads.length, total)}
        />
      </div>
      {id !== undefined && <Chosen key={id} id={id} listed={chosen} list={threads} />}
    </div>
  );
}

const lineOf = (text: string): string => visible(text.slice(0, 200)).replaceAll("\n", " ");

function Row({ thread, isCurrent }: { thread: ListedThread; isCurrent: boolean }) {
  const [title, last] = [titleOf(thread), previewOf(thread)];
  const text = title === "" ? strings.list.noMessage : lineOf(title);
  return (
    <a
      class="inbox-row"
      href={href(["inbox", thread.thread_id])}
      aria-current={isCurrent ? "true" : undefined}
    >
      <span class="one-line inbox-title">{text}</span>
      <Ago at={thread.updated_at} />
      <span class="one-line dim small-text">
        <CopyMark thread={thread} />{" "}
        {[graphOf(thread), thread.thread_id.slice(0, 13), last].filter(Boolean).map(lineOf).join(" · ")}
      </span>
    </a>
  );
}

const hasKeys = (values: unknown): values is object => isRecord(values) && Object.keys(values).length > 0;

/** Messages before the question that are shown at first. */
const CONTEXT = 3;

function Context({ at }: { at: ThreadState }) {
  const [most, setMost] = useState(CONTEXT);
  const { entries } = useMemo(() => new RunView(at.values, new Set()).picture(), [at]);
  // Without a conversation, the values are what the question is about.
  if (entries.length === 0) return hasKeys(at.values) ? <Output values={at.values} isOpen /> : null;
  return <Chat entries={entries} most={most} showMore={() => setMost(most + Chat.most)} />;
}

/** A thread of the address may be missing in the list: it is further down, or does not wait. */
function Chosen({ id, listed, list }: { id: string; listed?: ListedThread; list: readonly ListedThread[] }) {
  const [row] = useState(() => loading<ListedThread>());
  const last = useRef(listed);
  last.current = listed ?? row.value.value ?? last.current;
  useEffect(() => void (!listed && load(row, () => readRow(id))), [list]);
  const thread = last.current;
  const error = listed ? undefined : row.error.value;
  if (thread?.status === "interrupted" && !error) return <Asker thread={thread} />;
  return (
    <article class="asker">
      {thread && <AskerHead thread={thread} />}
      {error ? (
        <Fault error={error} />
      ) : thread ? (
        <p class="asker-end">{strings.questions.notWaiting}</p>
      ) : (
        <Waiting />
      )}
    </article>
  );
}

function AskerHead({ thread }: { thread: ListedThread }) {
  const { thread_id: id, updated_at } = thread;
  const title = titleOf(thread);
  return (
    <header class="asker-head">
      <a class="button small inbox-back" href={href(["inbox"])}>
        {strings.inbox}
      </a>
      <h2>
        <a href={href(["run", id])}>{title === "" ? strings.list.noMessage : lineOf(title)}</a>
      </h2>
      <code class="dim">{visible(id.slice(0, 13))}</code>
      <span class="dim">{visible(graphOf(thread))}</span>
      <span class="dim">
        <Ago at={updated_at} />
      </span>
    </header>
  );
}

function Asker({ thread }: { thread: ListedThread }) {
  const { thread_id: id, updated_at } = thread;
  const [state] = useState(() => loading<ThreadState>());
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const path = `/threads/${encodeURIComponent(id)}`;
  const readState = async () => (await ask<ThreadState>("GET", `${path}/state`)).body;
  const reread = () => void load(state, readState);
  // A change of the thread keeps what was entered, unless it asks something else.
  useEffect(reread, [updated_at]);
  const answer = async (wish: RunWish): Promise<boolean> => {
    setBusy(true);
    setFault(undefined);
    try {
      const headers = { Prefer: "respond-async" };
      await ask("POST", `${path}/runs`, { body: { assistant_id: graphOf(thread), ...wish }, headers });
      const [screen, named] = place.peek().path;
      if (screen === "inbox" && named === id) go(href(["inbox"]), { replace: true });
      await read();
      return true;
    } catch (error) {
      setFault(error as ApiError);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const { value: at } = state.value;
  return (
    <article class="asker">
      <AskerHead thread={thread} />
      {state.error.value && <Fault error={state.error.value} retry={reread} />}
      {!at && !state.error.value && <Waiting />}
      {at && <Context at={at} />}
      {at && at.interrupts.length === 0 && (
        <Pause
          key={at.checkpoint?.checkpoint_id}
          at={at}
          thread={thread}
          isBusy={isBusy}
          onGo={(wish) => void answer(wish)}
        />
      )}
      {at && at.interrupts.length > 0 && (
        <Questions
          key={at.checkpoint?.checkpoint_id}
          interrupts={at.interrupts}
          graph={graphOf(thread)}
          threadId={id}
          isBusy={isBusy}
          onAnswer={answer}
        />
      )}
      {fault && <Fault error={fault} />}
    </article>
  );
}

interface PauseProps {
  at: ThreadState;
  thread: ListedThread;
  isBusy: boolean;
  onGo: (wish: RunWish) => void;
}

/** A thread stopped at a breakpoint or by a user. */
function Pause({ at, thread, isBusy, onGo }: PauseProps) {
  const { places } = usePlaces(at, thread.thread_id);
  if (places.length === 0) return null;
  return (
    <p class="stopped">
      <span class="status is-interrupted">{strings.questions.stopped(visible(placesText(places)))}</span>
      <button type="button" onClick={() => onGo(GO_ON)} disabled={isBusy}>
        {strings.questions.goOn}
      </button>
      <CopyAs action={() => runAction(graphOf(thread), thread.thread_id, GO_ON)} />
    </p>
  );
}
