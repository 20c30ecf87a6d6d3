/** Runs a graph and shows the run in its drawing and conversation. */
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import { Asking } from "../parts/asking.js";
import { Chat } from "../parts/chat.js";
import { Empty, Fault, Waiting } from "../parts/common.js";
import { Composer } from "../parts/composer.js";
import { GraphView } from "../graph/graph-view.js";
import { NodePanel } from "../graph/node-panel.js";
import { Frames } from "../parts/frames.js";
import type { Progress as GraphProgress } from "../graph/marks.js";
import { LastFailure, Progress } from "../parts/progress.js";
import { Splitter } from "../parts/splitter.js";
import { Value, visible } from "../parts/text.js";
import { ThreadHead } from "../parts/thread-head.js";
import { Tree } from "../parts/tree.js";
import { go, href, place } from "../router.js";
import { hasMessages } from "../state/composer.js";
import { breakpoints, toggle } from "../state/breakpoints.js";
import { lookAgain, openConversation, row, state, threadId } from "../state/conversation.js";
import {
  diagram,
  drawing,
  drawn,
  graphId,
  graphIds,
  graphs,
  loadGraphs,
  openGraph,
} from "../state/graphs.js";
import { concerns, onChange } from "../state/changes.js";
import { conversation } from "../state/layout.js";
import { live, picture } from "../state/live-run.js";
import { chosenNode } from "../state/node-run.js";
import { factsOf, marksOf, progressOf, readRunFacts, storedRun } from "../state/run-facts.js";
import type { Picture } from "../state/run-view.js";
import { graphOf } from "../state/threads.js";
import { strings } from "../strings.js";

/** Distance from the end of a list within which new content scrolls it. */
const NEAR_PX = 60;

export function RunScreen() {
  const id = threadId.value;
  const { graph } = place.value.query;
  useEffect(() => void openConversation(id), [id]);
  // Without a thread, the address selects the graph.
  useEffect(() => {
    if (id === undefined && graph !== undefined) void openGraph(graph);
  }, [id, graph]);
  useEffect(() => {
    void loadGraphs();
    return onChange((changes) => void (concerns(changes, threadId.peek() ?? "") && lookAgain()));
  }, []);
  const isAsking = !live.value && (state.value.value?.interrupts.length ?? 0) > 0;
  const error = row.error.value ?? graphs.error.value;
  return (
    <main id="content" class="screen run-screen" tabIndex={-1}>
      <Head />
      {error ? (
        <Fault error={error} retry={() => void openConversation(id)} />
      ) : graphs.value.value?.length === 0 ? (
        <Empty
          title={strings.graph.none}
          hint={strings.graph.noneHint}
          command="graph-serve dev ./graph.ts"
        />
      ) : (
        <div class="run-panes" style={{ "--pane": `${conversation.width.value}px` }}>
          <RunMap />
          <Splitter pane={conversation} side="right" label={strings.layout.conversation} />
          <div class="run-main">
            <Scene />
            <Asking />
            {isAsking ? (
              <details class="instead">
                <summary class="dim">{strings.questions.instead}</summary>
                <Composer />
              </details>
            ) : (
              <Composer />
            )}
          </div>
        </div>
      )}
    </main>
  );
}

function Head() {
  const id = threadId.value;
  return (
    <header class="screen-head thread-head">
      {id === undefined ? (
        <>
          <h1>{strings.runs.fresh}</h1>
          <Picker />
        </>
      ) : (
        <ThreadHead id={id} thread={row.value.value}>
          {row.value.value && graphOf(row.value.value) === "" && <Picker />}
          <a class="button small" href={href(["run"], { graph: graphId.value })}>
            {strings.runs.fresh}
          </a>
        </ThreadHead>
      )}
    </header>
  );
}

/** For a thread without runs: later it cannot change its graph. */
function Picker() {
  const ids = graphIds.value;
  if (ids.length < 2) return <span>{visible(graphId.value)}</span>;
  return (
    <label class="picker">
      <span class="visually-hidden">{strings.runs.graph}</span>
      <select
        value={graphId.value}
        onChange={({ currentTarget: { value } }) => {
          const id = threadId.value;
          go(href(id === undefined ? ["run"] : ["run", id], { graph: value }), { replace: true });
          void openGraph(value);
        }}
      >
        {ids.map((each) => (
          <option key={each} value={each}>
            {visible(each)}
          </option>
        ))}
      </select>
    </label>
  );
}

function RunMap() {
  const shown = diagram.value;
  const id = threadId.value;
  useEffect(() => () => void (chosenNode.value = undefined), [id]);
  useEffect(() => void readRunFacts(id), [id, row.value.value?.updated_at]);
  if (drawing.error.value) return <Fault error={drawing.error.value} />;
  if (!shown) return <Waiting />;
  const run = storedRun.value?.threadId === id ? storedRun.value : undefined;
  return (
    <details class="run-map" open={matchMedia("(min-width: 900px)").matches}>
      <summary>{strings.runs.drawing}</summary>
      <GraphView
        diagram={shown}
        label={`${strings.graph.drawing} ${graphId.value}`}
        {...marks(run)}
        facts={run && factsOf(run)}
        stops={breakpoints.value}
        onStop={(node) => toggle(node, "before")}
        chosen={chosenNode.value}
        onChoose={(node) => (chosenNode.value = chosenNode.value === node ? undefined : node)}
      />
      {chosenNode.value !== undefined && (
        <NodePanel
          id={chosenNode.value}
          isStop={breakpoints.value.before.has(chosenNode.value)}
          onStop={(node) => toggle(node, "before")}
          onClose={() => (chosenNode.value = undefined)}
        />
      )}
    </details>
  );
}

/** Of the run that this page followed or, after a reload, of the stored one. */
function marks(run: typeof storedRun.value): {
  progress: Partial<GraphProgress>;
  taken?: ReadonlySet<string>;
} {
  const { nodes, ways } = picture.value ?? {};
  if (nodes && nodes.size > 0) return { progress: progressOf(nodes), taken: ways };
  if (!run || live.value) return { progress: {} };
  const stored = marksOf(run, drawn.value);
  return { progress: stored.progress, taken: stored.ways };
}

function Scene() {
  const id = threadId.value;
  const [most, setMost] = useState(Chat.most);
  const seen = picture.value;
  if (id !== undefined && !seen) return state.error.value ? <Fault error={state.error.value} /> : <Waiting />;
  const isEmpty = !seen || (seen.entries.length === 0 && isBlank(seen.values) && !live.value && !ended());
  return (
    <Scroller isTalk={!isEmpty && seen.entries.length > 0}>
      {isEmpty ? (
        <Empty
          title={hasMessages.value ? strings.runs.empty : strings.runs.emptyInput}
          hint={strings.runs.emptyHint}
        />
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

/** True if the last run ended while this page watched it, or failed before. */
const ended = (): boolean => picture.value?.end !== undefined || row.value.value?.status === "error";

const isBlank = (values: unknown): boolean => !isRecord(values) || Object.keys(values).length === 0;

/** State keys other than the conversation, and custom events of nodes. */
function Others({ seen: { values, entries, custom, frames } }: { seen: Picture }) {
  const others = isRecord(values)
    ? Object.entries(values).filter(([key]) => key !== "messages" || entries.length === 0)
    : [];
  return (
    <>
      {others.length > 0 && (
        <details class="block" open={entries.length === 0}>
          <summary>{strings.runs.output}</summary>
          <div class="state-box">
            <Tree root={Object.fromEntries(others)} label={strings.runs.output} />
          </div>
        </details>
      )}
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
