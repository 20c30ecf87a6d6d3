/** Components shared by all screens: status, errors, empty states, commands to copy. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ThreadStatus } from "../../src/models/thread-fields.js";
import { type ApiError, LostRequest, reconnects } from "../api.js";
import { useFocusKept } from "../focus.js";
import { href, place } from "../router.js";
import { type ListedThread, originalOf } from "../state/threads.js";
import { strings } from "../strings.js";
import { Copy, visible } from "./text.js";

/** Status is shown by shape and text too, not only by color. */
const SHAPES: Record<ThreadStatus, string> = { idle: "○", busy: "◐", interrupted: "◆", error: "▲" };

export const StatusShape = ({ status }: { status: ThreadStatus }) => (
  <span class={`status-shape is-${status}`} aria-hidden="true">
    {SHAPES[status]}
  </span>
);

export function Status({ status }: { status: ThreadStatus }) {
  return (
    <span class={`status is-${status}`}>
      <StatusShape status={status} /> {strings.status[status]}
    </span>
  );
}

/** Marks a copy in a list: its title is that of the original. */
export const CopyMark = ({ thread }: { thread: ListedThread }) =>
  originalOf(thread) === undefined ? null : <span class="badge">{strings.list.copy}</span>;

/** `retry` reads again what could not be read. It is called if the page has reconnected since a lost request was sent. */
export function Fault({ error, retry }: { error: ApiError; retry?: () => void }) {
  const isLost = error instanceof LostRequest;
  const box = useFocusKept<HTMLDivElement>();
  const again = useRef(retry);
  again.current = retry;
  // The page may reconnect before the request fails, or before its error is shown.
  const since = isLost ? reconnects.value - error.sentAfter : 0;
  useEffect(() => void (since > 0 && again.current?.()), [error, since]);
  return (
    <div ref={box} class="fault" role="alert">
      <p>
        <strong>{isLost ? strings.fault.network : visible(error.message)}</strong>
      </p>
      {isLost && <p>{retry ? strings.fault.hint : strings.fault.unsent}</p>}
      <Advice code={error.code} />
      {error.requestId && (
        <p class="dim">
          {strings.fault.request} <code>{error.requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {strings.retry}
        </button>
      )}
    </div>
  );
}

/** What may have happened, and what to do. The address of every screen of a thread has the id in the same place. */
function Advice({ code }: { code: string }) {
  const [screen = "", id = ""] = place.value.path;
  if (!["threads", "run", "inbox"].includes(screen)) return null;
  if (code === "thread_not_found") return <p>{strings.fault.threadGone}</p>;
  if (code !== "thread_id_incomplete") return null;
  return (
    <p>
      <a href={href(["threads"], { q: id })}>{strings.fault.findId(visible(id))}</a>
    </p>
  );
}

/** Empty state with a hint and a command that fills it. */
export function Empty({ title, hint, command }: { title: string; hint?: string; command?: string }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {hint && <p class="dim">{hint}</p>}
      {command && (
        <p class="command">
          <code>{command}</code> <Copy text={() => command} />
        </p>
      )}
    </div>
  );
}

export const Waiting = () => (
  <p class="waiting dim" role="status">
    {strings.loading}
  </p>
);

interface SectionProps {
  title: ComponentChildren;
  level?: 2 | 3;
  children: ComponentChildren;
}

export function Section({ title, level = 3, children }: SectionProps) {
  const Heading = `h${level}` as const;
  return (
    <section class="part">
      <Heading>{title}</Heading>
      {children}
    </section>
  );
}
