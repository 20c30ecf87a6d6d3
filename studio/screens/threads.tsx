import { useEffect, useRef } from "preact/hooks";
import { isReadOnly } from "../api.js";
import { visible, Ago } from "../components/text.js";
import { CopyMark, Empty, Fault, Status, Waiting } from "../components/common.js";
import { EndOfList } from "../components/end-of-list.js";
import { Table, TableRow } from "../components/table.js";
import { ListHead, MetaField, StatusChoices } from "../components/list-head.js";
import { go, href, place, withQuery } from "../router.js";
import { onChange, throttled } from "../state/changes.js";
import {
  counts,
  DEFAULT_SORT,
  graphOf,
  hasMore,
  type ListedThread,
  loadMore,
  page,
  parseMeta,
  previewOf,
  refreshRows,
  reload,
  removeThread,
  shown,
  STATUSES,
  threads,
  titleOf,
  tokens,
  total,
} from "../state/threads.js";
import { failureText } from "../state/schema-issues.js";
import { strings } from "../strings.js";

const TYPING_MS = 250;
/** Minimum interval of reloads after changes. */
const REFRESH_MS = 700;

export function Threads() {
  const { status, meta, sort, q = "" } = place.value.query;
  const typed = useRef(q);
  useEffect(() => {
    // Debounce typing.
    const timer = setTimeout(() => void reload(), typed.current === q ? 0 : TYPING_MS);
    typed.current = q;
    return () => clearTimeout(timer);
  }, [status, meta, sort, q]);
  useEffect(() => onChange(throttled(refreshRows, REFRESH_MS)), []);
  return (
    <main id="content" class="screen list-screen" tabIndex={-1}>
      <ListHead title={strings.threads} count={counts.value.all} reload={() => void reload()} />
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
      <Table
        label={strings.threads}
        sort={DEFAULT_SORT}
        columns={[
          { title: strings.list.title, class: "is-main" },
          { title: strings.runs.graph },
          { title: strings.list.status, sort: "status" },
          { title: strings.list.messages, class: "is-number" },
          { title: strings.list.steps, class: "is-number" },
          { title: strings.list.tokens, class: "is-number" },
          { title: strings.list.updated, class: "is-number", sort: "updated_at" },
        ]}
      >
        {shown.value.map((thread) => (
          <Row key={thread.thread_id} thread={thread} />
        ))}
      </Table>
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
  const { thread_id, status, updated_at, preview } = thread;
  const used = tokens.value.get(thread_id);
  const remove = () => {
    removeThread(thread, strings.list.removed(thread_id.slice(0, 13)));
    document.getElementById("content")?.focus();
  };
  return (
    <TableRow version={updated_at}>
      <td class="is-main">
        <a class="row-link" href={href(["threads", thread_id])}>
          <Title thread={thread} />
        </a>
      </td>
      <td>{visible(graphOf(thread))}</td>
      <td>
        <Status status={status} />
      </td>
      <td class="is-number">{preview?.messages ? preview.messages.toLocaleString("en") : "–"}</td>
      <td class="is-number">{preview?.steps?.toLocaleString("en") ?? "–"}</td>
      <td class="is-number">{used ? used.toLocaleString("en") : "–"}</td>
      <td class="is-number">
        <Ago at={updated_at} />
      </td>
      <td class="row-actions">
        {!isReadOnly && (
          <button type="button" class="small" onClick={remove}>
            {strings.list.remove}
            <span class="visually-hidden"> {thread_id}</span>
          </button>
        )}
      </td>
    </TableRow>
  );
}

/** Title, then the error or the last message. */
function Title({ thread }: { thread: ListedThread }) {
  const { thread_id, status, state_updated_at, error } = thread;
  const [title, last] = [titleOf(thread), previewOf(thread)];
  const isNew = state_updated_at === null && status !== "busy";
  const nothing = isNew ? strings.list.neverRan : strings.list.noMessage;
  return (
    <>
      {title === "" ? (
        <span class="row-title dim">
          {nothing} <code>{thread_id.slice(0, 13)}</code>
        </span>
      ) : (
        <span class="row-title">{oneLine(title)}</span>
      )}
      <CopyMark thread={thread} />
      {error !== null && <span class="bad">{oneLine(failureText(error))}</span>}
      {error === null && last !== "" && <span class="dim">{oneLine(last)}</span>}
    </>
  );
}

const oneLine = (text: string): string => visible(text.slice(0, 300)).replaceAll("\n", " ");
