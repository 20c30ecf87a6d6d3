/** What a thread's conversation shows, scrolled to its end while a run adds to it. */
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import { hasMessages } from "../state/composer.js";
import { useView } from "../state/conversation.js";
import type { Picture } from "../state/run-view.js";
import { strings } from "../strings.js";
import { Chat } from "./chat.js";
import { Empty, Fault, Waiting } from "./common.js";
import { Frames } from "./frames.js";
import { LastFailure, Progress } from "./progress.js";
import { Value } from "./text.js";
import { Tree } from "./tree.js";

/** Distance from the end of a list within which new content scrolls it. */
const NEAR_PX = 60;

/** The conversation of a thread with its progress, and what else its run reported. */
export function Scene() {
  const view = useView();
  const [most, setMost] = useState(Chat.most);
  const seen = view.picture.value;
  const error = view.state.error.value;
  if (view.id !== "" && !seen)
    return error ? <Fault error={error} retry={() => void view.open()} /> : <Waiting />;
  // An error or the end of a run is shown even without a conversation.
  const hasEnded = seen?.end !== undefined || view.row.value.value?.status === "error";
  const isBlank = !isRecord(seen?.values) || Object.keys(seen.values).length === 0;
  const isEmpty = !seen || (seen.entries.length === 0 && isBlank && !view.live.value && !hasEnded);
  // Its question or its breakpoint is shown below.
  const isWaiting = (view.waiting.value?.next.length ?? 0) > 0;
  return (
    <Scroller isTalk={!isEmpty && seen.entries.length > 0}>
      {isEmpty ? (
        !isWaiting && (
          <Empty
            title={hasMessages.value ? strings.runs.empty : strings.runs.emptyInput}
            {...(view.id === "" && { hint: strings.runs.emptyHint })}
          />
        )
      ) : (
        <>
          <Chat entries={seen.entries} most={most} showMore={() => setMost(most + Chat.most)} />
          <Progress />
          <LastFailure />
          <Others seen={seen} />
        </>
      )}
    </Scroller>
  );
}

/**
 * Stays scrolled to the end while its content grows or moves, unless the user scrolled up. On small screens
 * the whole page scrolls: a conversation is shown from its end, a form from its start.
 */
function Scroller({ isTalk, children }: { isTalk: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const follows = useRef(isTalk);
  follows.current = isTalk;
  useLayoutEffect(() => {
    const place = { isAtEnd: true, top: 0 };
    const scrolled = () => {
      const own = box.current;
      if (own && own.scrollHeight > own.clientHeight) return own;
      return follows.current ? document.documentElement : undefined;
    };
    const toEnd = () => {
      const list = scrolled();
      if (list && place.isAtEnd) list.scrollTop = list.scrollHeight;
    };
    const note = () => {
      const { scrollTop, scrollHeight, clientHeight } = scrolled() ?? document.documentElement;
      // Ignore scroll events that follow a programmatic scroll to the end.
      const stays = place.isAtEnd && scrollTop >= place.top;
      place.isAtEnd = stays || scrollHeight - scrollTop - clientHeight < NEAR_PX;
      place.top = scrollTop;
    };
    const observer = new ResizeObserver(toEnd);
    for (const { current } of [box, inside]) if (current) observer.observe(current);
    // Capture phase, because scroll events of a list do not bubble.
    document.addEventListener("scroll", note, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      document.removeEventListener("scroll", note, { capture: true });
    };
  }, []);
  return (
    <div ref={box} class="scene">
      <div ref={inside}>{children}</div>
    </div>
  );
}

/** State keys other than the conversation, and custom events of nodes. */
function Others({ seen: { values, entries, custom, frames } }: { seen: Picture }) {
  const others = isRecord(values)
    ? Object.entries(values).filter(([key]) => key !== "messages" || entries.length === 0)
    : [];
  return (
    <>
      {others.length > 0 && <Output values={Object.fromEntries(others)} isOpen={entries.length === 0} />}
      {custom.length > 0 && (
        <details class="block" open>
          <summary>
            {strings.runs.custom} <span class="dim">{custom.length}</span>
          </summary>
          <ol class="custom">
            {custom.slice(-20).map((event, index) => (
              <li key={index}>
                <Value value={event} />
              </li>
            ))}
          </ol>
        </details>
      )}
      {frames.length > 0 && <Frames frames={frames} />}
    </>
  );
}

/** The values of a state as a tree. */
export const Output = ({ values, isOpen }: { values: object; isOpen: boolean }) => (
  <details class="block" open={isOpen}>
    <summary>{strings.runs.output}</summary>
    <div class="state-box">
      <Tree root={values} label={strings.runs.output} />
    </div>
  </details>
);
