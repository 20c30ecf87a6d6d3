/** All threads, newest first. */
import { useEffect, useRef } from "preact/hooks";
import { visible, Ago } from "../parts/text.js";
import { Empty, Fault, Status, Waiting } from "../parts/common.js";
import { go, href, place, withQuery } from "../router.js";
import {
  counts,
  graphOf,
  hasMore,
  type ListedThread,
  loadMore,
  page,
  parseMeta,
  previewOf,
  reload,
  shown,
  STATUSES,
  threads,
  total,
} from "../state/threads.js";
import { words } from "../words.js";

export function Threads() {
  const { status, meta } = place.value.query;
  useEffect(() => void reload(), [status, meta]);
  return (
    <main id="content" class="screen narrow" tabIndex={-1}>
      <header class="screen-head">
        <h1>{words.threads}</h1>
        <button type="button" class="small" data-refresh onClick={() => void reload()}>
          {words.refresh}
        </button>
      </header>
      <Filters />
      <List />
    </main>
  );
}

function Filters() {
  const { status, meta = "", q = "" } = place.value.query;
  const isWrong = meta !== "" && parseMeta(meta) === undefined;
  return (
    <div class="filters">
      <nav class="choices" aria-label={words.list.status}>
        {[undefined, ...STATUSES].map((each) => (
          <a
            key={each ?? "all"}
            href={withQuery({ status: each })}
            aria-current={status === each ? "true" : undefined}
          >
            {each ? <Status status={each} /> : words.list.all}
            <span class="count">{counts.value[each ?? "all"] ?? ""}</span>
          </a>
        ))}
      </nav>
      <div class="fields">
        <label>
          <span>{words.list.filter}</span>
          <input
            type="search"
            data-slash
            placeholder={words.list.filterHint}
            value={q}
            onInput={({ currentTarget }) => go(withQuery({ q: currentTarget.value }), { replace: true })}
          />
        </label>
        <label>
          <span>{words.list.meta}</span>
          <input
            type="search"
            placeholder={words.list.metaHint}
            value={meta}
            aria-invalid={isWrong}
            aria-describedby={isWrong ? "meta-fault" : undefined}
            onChange={({ currentTarget }) => go(withQuery({ meta: currentTarget.value }), { replace: true })}
          />
          {isWrong && (
            <span id="meta-fault" class="bad">
              {words.list.metaFault}
            </span>
          )}
        </label>
      </div>
    </div>
  );
}

function List() {
  const error = page.error.value;
  if (error && threads.value.length === 0) return <Fault error={error} retry={() => void reload()} />;
  if (threads.value.length === 0) {
    if (page.busy.value) return <Waiting />;
    const { status, meta = "" } = place.value.query;
    if (status !== undefined || parseMeta(meta) !== undefined) return <Empty title={words.list.noMatch} />;
    return (
      <Empty title={words.list.none} hint={words.list.noneHint} command='graph-serve run --message "hello"' />
    );
  }
  return (
    <>
      {shown.value.length === 0 && <Empty title={words.list.noMatch} hint={words.list.noMatchHint} />}
      <ul class="threads" data-list>
        {shown.value.map((thread) => (
          <Row key={thread.thread_id} thread={thread} />
        ))}
      </ul>
      {error && <Fault error={error} retry={() => void loadMore()} />}
      <footer class="list-end dim">
        <span role="status">{words.list.loaded(shown.value.length, total.value)}</span>
        {hasMore.value ? <More /> : <span>{words.list.end}</span>}
      </footer>
    </>
  );
}

function Row({ thread }: { thread: ListedThread }) {
  const { thread_id, status, updated_at, error } = thread;
  const preview = previewOf(thread);
  const nothing = thread.state_updated_at === null ? words.list.neverRan : words.list.noMessage;
  return (
    <li>
      <a class="thread" href={href(["threads", thread_id])}>
        <span class={`preview ${preview === "" ? "dim" : ""}`}>
          {preview === "" ? nothing : visible(preview.slice(0, 300)).replaceAll("\n", " ")}
        </span>
        <span class="facts">
          <Status status={status} />
          {graphOf(thread) !== "" && <span>{visible(graphOf(thread))}</span>}
          <code>{thread_id.slice(0, 13)}</code>
          <Ago at={updated_at} />
        </span>
        {error !== null && <span class="bad one-line">{visible(error)}</span>}
      </a>
    </li>
  );
}

/** Loads the next page when it comes into sight, and when it is pressed. */
function More() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!button.current) return;
    const observer = new IntersectionObserver(
      ([entry]) => entry?.isIntersecting && !page.error.value && void loadMore(),
      { rootMargin: "600px" },
    );
    observer.observe(button.current);
    return () => observer.disconnect();
  }, [threads.value]);
  return (
    <button ref={button} type="button" class="small" onClick={() => void loadMore()}>
      {page.busy.value ? words.loading : words.more}
    </button>
  );
}
