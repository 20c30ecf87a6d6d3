import { useEffect, useRef } from "preact/hooks";
import { isReadOnly } from "../api.js";
import { visible, Ago } from "../parts/text.js";
import { Empty, Fault, Status, Waiting } from "../parts/common.js";
import { EndOfList } from "../parts/end-of-list.js";
import { ListHead, MetaField, StatusChoices } from "../parts/list-head.js";
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
  removeThread,
  reload,
  shown,
  STATUSES,
  threads,
  tokens,
  total,
} from "../state/threads.js";
import { strings } from "../strings.js";

const TYPING_MS = 250;

export function Threads() {
  const { status, meta, q = "" } = place.value.query;
  const typed = useRef(q);
  useEffect(() => {
    // Debounce typing.
    const timer = setTimeout(() => void reload(), typed.current === q ? 0 : TYPING_MS);
    typed.current = q;
    return () => clearTimeout(timer);
  }, [status, meta, q]);
  return (
    <main id="content" class="screen narrow" tabIndex={-1}>
      <ListHead title={strings.threads} reload={() => void reload()} />
      <Filters />
      <List />
    </main>
  );
}

function Filters() {
  const { q = "" } = place.value.query;
  return (
    <div class="filters">
      <StatusChoices
        statuses={STATUSES}
        show={(each) => (
          <>
            {each ? <Status status={each} /> : strings.list.all}
            <span class="count">{counts.value[each ?? "all"] ?? ""}</span>
          </>
        )}
      />
      <div class="fields">
        <label>
          <span>{strings.list.filter}</span>
          <input
            type="search"
            data-slash
            placeholder={strings.list.filterHint}
            value={q}
            onInput={({ currentTarget }) => go(withQuery({ q: currentTarget.value }), { replace: true })}
          />
        </label>
        <MetaField />
      </div>
    </div>
  );
}

function List() {
  const error = page.error.value;
  if (error && threads.value.length === 0) return <Fault error={error} retry={() => void reload()} />;
  if (threads.value.length === 0) {
    if (page.busy.value) return <Waiting />;
    const { status, meta = "", q = "" } = place.value.query;
    if (status !== undefined || parseMeta(meta) !== undefined || q !== "")
      return <Empty title={strings.list.noMatch} />;
    return (
      <Empty
        title={strings.list.none}
        hint={strings.list.noneHint}
        command='graph-serve run --message "hello"'
      />
    );
  }
  return (
    <>
      <ul class="threads" data-list>
        {shown.value.map((thread) => (
          <Row key={thread.thread_id} thread={thread} />
        ))}
      </ul>
      {error && <Fault error={error} retry={() => void loadMore()} />}
      <EndOfList
        count={threads.value.length}
        page={page}
        hasMore={hasMore.value}
        more={() => void loadMore()}
        text={strings.list.loaded(shown.value.length, total.value)}
      />
    </>
  );
}

function Row({ thread }: { thread: ListedThread }) {
  const { thread_id, status, updated_at, error } = thread;
  const preview = previewOf(thread);
  const used = tokens.value.get(thread_id) ?? 0;
  const remove = () => {
    removeThread(thread, strings.list.removed(thread_id.slice(0, 13)));
    document.getElementById("content")?.focus();
  };
  const isNew = thread.state_updated_at === null && status !== "busy";
  const nothing = isNew ? strings.list.neverRan : strings.list.noMessage;
  return (
    <li class="with-action">
      <a class="thread" href={href(["threads", thread_id])}>
        <span class={`preview ${preview === "" ? "dim" : ""}`}>
          {preview === "" ? nothing : visible(preview.slice(0, 300)).replaceAll("\n", " ")}
        </span>
        <span class="facts">
          <Status status={status} />
          {graphOf(thread) !== "" && <span>{visible(graphOf(thread))}</span>}
          <code>{thread_id.slice(0, 13)}</code>
          <Ago at={updated_at} />
          {used > 0 && <span>{strings.allRuns.tokens(used)}</span>}
        </span>
        {error !== null && <span class="bad one-line">{visible(error)}</span>}
      </a>
      {!isReadOnly && (
        <button type="button" class="small on-demand" onClick={remove}>
          {strings.list.remove}
          <span class="visually-hidden"> {thread_id}</span>
        </button>
      )}
    </li>
  );
}
