/** A second thread beside that of the address, with its own run and questions. */
import { useEffect } from "preact/hooks";
import { go, href, withQuery } from "../router.js";
import { concerns, onChange } from "../state/changes.js";
import { besideId, leaveOthers, threadId, ViewProvider } from "../state/conversation.js";
import { recent } from "../state/recent.js";
import type { ThreadView } from "../state/thread-view.js";
import { graphOf, type ListedThread, titleOf } from "../state/threads.js";
import { strings } from "../strings.js";
import { Asking } from "./asking.js";
import { Fault, Status } from "./common.js";
import { Scene } from "./scene.js";
import { visible } from "./text.js";

const nameOf = (thread: ListedThread): string =>
  visible(titleOf(thread).slice(0, 60)).replaceAll("\n", " ") || thread.thread_id.slice(0, 13);

/** Selects the second thread among the most recent ones. */
export function BesidePicker() {
  const id = besideId.value;
  const others = recent.value.filter(({ thread_id }) => thread_id !== threadId.value);
  if (others.length === 0 && id === undefined) return null;
  const isListed = others.some(({ thread_id }) => thread_id === id);
  return (
    <label class="picker beside-picker">
      <span class="visually-hidden">{strings.layout.beside}</span>
      <select
        value={id ?? ""}
        onChange={({ currentTarget: { value } }) => go(withQuery({ beside: value || undefined }))}
      >
        <option value="">{strings.layout.besideNone}</option>
        {id !== undefined && !isListed && <option value={id}>{visible(id.slice(0, 13))}</option>}
        {others.map((thread) => (
          <option key={thread.thread_id} value={thread.thread_id}>
            {nameOf(thread)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Beside({ view }: { view: ThreadView }) {
  useEffect(() => {
    void view.open();
    const stop = onChange((changes) => void (concerns(changes, view.id) && view.lookAgain()));
    return () => {
      stop();
      leaveOthers();
    };
  }, [view]);
  const thread = view.row.value.value;
  const graph = thread ? graphOf(thread) : "";
  return (
    <ViewProvider value={view}>
      <section class="run-main beside" aria-label={strings.layout.besidePane}>
        <header class="pane-head">
          <h2 class="one-line">
            <a href={href(["run", view.id])}>{thread ? nameOf(thread) : visible(view.id.slice(0, 13))}</a>
          </h2>
          {thread && <Status status={thread.status} />}
          {graph !== "" && <span class="dim one-line">{visible(graph)}</span>}
          <a class="button small" href={withQuery({ beside: undefined })}>
            {strings.layout.besideClose}
          </a>
        </header>
        {view.row.error.value ? (
          <Fault error={view.row.error.value} retry={() => void view.open()} />
        ) : (
          <>
            <Scene />
            <Asking />
          </>
        )}
      </section>
    </ViewProvider>
  );
}
