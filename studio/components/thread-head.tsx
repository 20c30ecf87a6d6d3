/** Header of a thread: title, status, id, and its two views. */
import type { ComponentChildren } from "preact";
import { isReadOnly, shared } from "../api.js";
import { href, place } from "../router.js";
import { isNarrow } from "../state/layout.js";
import { graphOf, type ListedThread, originalOf, titleOf } from "../state/threads.js";
import { strings } from "../strings.js";
import { Status } from "./common.js";
import { More } from "./more.js";
import { Ago, Copy, visible } from "./text.js";

interface ThreadHeadProps {
  id: string;
  /** Undefined until it is loaded. */
  thread: ListedThread | undefined;
  /** The main action, which phones have in the menu. */
  main?: ComponentChildren;
  /** More facts and actions, in the menu. */
  children?: ComponentChildren;
}

/** Characters of an id that are shown. */
const ID_SHOWN = 13;

export function ThreadHead({ id, thread, main, children }: ThreadHeadProps) {
  const title = thread ? titleOf(thread) : "";
  const graph = thread ? graphOf(thread) : "";
  const original = thread && originalOf(thread);
  return (
    <>
      <h1 class="one-line" title={visible(title)}>
        {title === "" ? <code>{visible(id)}</code> : visible(title).replaceAll("\n", " ")}
      </h1>
      <p class="facts">
        {thread && <Status status={thread.status} />}
        {graph !== "" &&
          (shared ? <span>{visible(graph)}</span> : <a href={href(["graphs", graph])}>{visible(graph)}</a>)}
        {original !== undefined && !shared && (
          <a href={href(["threads", original])}>
            {strings.list.copyOf(visible(original.slice(0, ID_SHOWN)))}
          </a>
        )}
      </p>
      <div class="thread-actions">
        {!isNarrow.value && main}
        <More>
          <p class="facts">
            <Identity {...{ id, thread, title }} />
          </p>
          {isNarrow.value && main}
          {children}
        </More>
        {!shared && !isReadOnly && <Views id={id} />}
      </div>
    </>
  );
}

interface IdentityProps extends Pick<ThreadHeadProps, "id" | "thread"> {
  title: string;
}

const Identity = ({ id, thread, title }: IdentityProps) => (
  <>
    {thread && <Ago at={thread.updated_at} />}
    <span class="id">
      {title !== "" && <code title={visible(id)}>{visible(id.slice(0, ID_SHOWN))}</code>}
      <Copy text={() => id} />
    </span>
  </>
);

function Views({ id }: { id: string }) {
  const [screen] = place.value.path;
  const views = [
    ["run", strings.runs.conversation],
    ["threads", strings.runs.steps],
  ] as const;
  return (
    <nav class="views" aria-label={strings.layout.views}>
      {views.map(([view, name]) => (
        <a key={view} href={href([view, id])} aria-current={screen === view ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
