/** Runs a graph and shows the run in its drawing and conversation. */
import { useEffect } from "preact/hooks";
import { Beside, BesidePicker } from "../components/beside.js";
import { Empty, Fault, Waiting } from "../components/common.js";
import { GraphView } from "../graph/graph-view.js";
import { NodePanel } from "../graph/node-panel.js";
import type { Progress as GraphProgress } from "../graph/marks.js";
import { NextRun } from "../components/next-run.js";
import { Scene } from "../components/scene.js";
import { Splitter } from "../components/splitter.js";
import { visible } from "../components/text.js";
import { ThreadHead } from "../components/thread-head.js";
import { VersionNote } from "../components/version-note.js";
import { go, href, place } from "../router.js";
import { breakpoints, toggle } from "../state/breakpoints.js";
import {
  besideId,
  current,
  live,
  openConversation,
  picture,
  threadId,
  viewOf,
} from "../state/conversation.js";
import {
  diagram,
  drawing,
  drawn,
  graphId,
  graphIds,
  graphs,
  loadGraphs,
  openGraph,
  readGraph,
} from "../state/graphs.js";
import { concerns, onChange } from "../state/changes.js";
import { conversation, isStacked } from "../state/layout.js";
import type { Loading } from "../state/loading.js";
import { chosenNode } from "../state/node-run.js";
import { factsOf, marksOf, pollRunFacts, progressOf, readRunFacts, storedRun } from "../state/run-facts.js";
import { graphOf } from "../state/threads.js";
import { strings } from "../strings.js";

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
    return onChange(
      (changes) => void (concerns(changes, threadId.peek() ?? "") && current.peek().lookAgain()),
    );
  }, []);
  const { row } = current.value;
  const beside = besideId.value;
  // What is loaded stays, with what was entered, unless the thread was deleted.
  const error = [row, graphs].find((part) => part.error.value && !isUsable(part))?.error.value;
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
        <div
          class={`run-panes ${beside === undefined ? "" : "has-beside"}`}
          style={{ "--pane": `${conversation.width.value}px` }}
        >
          <RunMap />
          <Splitter pane={conversation} side="right" label={strings.layout.conversation} />
          <div class="run-main">
            <Scene />
            <NextRun />
          </div>
          {beside !== undefined && <Beside key={beside} view={viewOf(beside)} />}
        </div>
      )}
    </main>
  );
}

const isUsable = ({ value, error }: Loading<unknown>): boolean =>
  value.value !== undefined && error.value?.status !== 404;

function Head() {
  const id = threadId.value;
  const thread = current.value.row.value.value;
  return (
    <header class="screen-head thread-head">
      {id === undefined ? (
        <>
          <h1>{strings.runs.fresh}</h1>
          <Picker />
        </>
      ) : (
        <ThreadHead
          id={id}
          thread={thread}
          main={
            <>
              {thread && graphOf(thread) === "" && <Picker />}
              <a class="button small" href={href(["run"], { graph: graphId.value })}>
                {strings.runs.fresh}
              </a>
            </>
          }
        >
          <BesidePicker />
        </ThreadHead>
      )}
      {thread && <VersionNote id={thread.thread_id} updatedAt={thread.updated_at} />}
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
  useEffect(() => void readRunFacts(id), [id, current.value.row.value.value?.updated_at]);
  const followed = live.value?.runId;
  const isStreamed = (picture.value?.nodes.size ?? 0) > 0;
  useEffect(() => {
    if (id !== undefined && followed !== undefined && !isStreamed) return pollRunFacts(id, followed);
    return undefined;
  }, [id, followed, isStreamed]);
  if (drawing.error.value) return <Fault error={drawing.error.value} retry={() => void readGraph()} />;
  if (!shown) return <Waiting />;
  const run = storedRun.value?.threadId === id ? storedRun.value : undefined;
  return (
    <details class="run-map" open={!isStacked.peek()}>
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

/** Of the run that this page followed or, if its stream had no tasks or after a reload, of its stored times. */
function marks(run: typeof storedRun.value): {
  progress: Partial<GraphProgress>;
  taken?: ReadonlySet<string>;
} {
  const { nodes, ways } = picture.value ?? {};
  if (nodes && nodes.size > 0) return { progress: progressOf(nodes), taken: ways };
  if (!run || (live.value && live.value.runId !== run.runId)) return { progress: {} };
  const stored = marksOf(run, drawn.value);
  return { progress: stored.progress, taken: stored.ways };
}
