/** The graph at one step: nodes that ran, nodes that run next, and the edges between them. */
import { useSignalEffect } from "@preact/signals";
import type { ThreadTask } from "../../src/models/state.js";
import { Fault, Waiting } from "../components/common.js";
import { GraphView, waysHint } from "../graph/graph-view.js";
import { takenEdges } from "../components/history-diagram.js";
import type { Progress } from "../graph/marks.js";
import { visible } from "../components/text.js";
import { drawing, drawingError, drawThread } from "../state/drawing.js";
import type { Looked } from "../state/steps-view.js";
import { chosenStep, parentOf, ranIn, stepHref } from "../state/thread.js";
import { strings } from "../strings.js";

export function StepDrawing({ state, parent }: Looked) {
  useSignalEffect(drawThread);
  const [drawn, error] = [drawing.value, drawingError.value];
  if (!drawn) return error ? <Fault error={error} retry={drawThread} /> : <Waiting />;
  const { diagram, isSeen } = drawn;
  if (diagram.nodes.length === 0) return <p class="dim">{strings.drawing.none}</p>;
  const ran = state.metadata.source === "loop" ? (parent?.tasks ?? []) : [];
  const progress = progressOf(ran, state.tasks);
  const step = chosenStep.value && parentOf(chosenStep.value);
  const before = new Set(step && ranIn(step));
  return (
    <>
      <p class="drawing-head dim">
        {isSeen ? strings.drawing.seen : waysHint(diagram)}
        <Legend {...progress} />
      </p>
      <GraphView
        diagram={diagram}
        label={strings.graph.drawing}
        progress={progress}
        taken={takenEdges(diagram, progress, before)}
      />
      <Inner tasks={[...ran, ...state.tasks]} />
    </>
  );
}

const namesOf = (tasks: readonly ThreadTask[]): ReadonlySet<string> => new Set(tasks.map(({ name }) => name));

function progressOf(ran: readonly ThreadTask[], next: readonly ThreadTask[]): Progress {
  return {
    running: new Set(),
    ran: namesOf(ran),
    next: namesOf(next),
    asks: namesOf(next.filter(({ interrupts, error }) => interrupts.length > 0 && error === null)),
    failed: namesOf(next.filter(({ error }) => error !== null)),
  };
}

const MARKS = ["ran", "next", "asks", "failed"] as const;

function Legend(progress: Progress) {
  return (
    <span class="legend">
      {MARKS.filter((mark) => progress[mark].size > 0).map((mark) => (
        <span key={mark} class={`key is-${mark}`}>
          {strings.drawing[mark]}
        </span>
      ))}
    </span>
  );
}

/** Subgraphs that ran in this step or run next. */
function Inner({ tasks }: { tasks: readonly ThreadTask[] }) {
  const graphs = new Map(tasks.map(({ name, checkpoint }) => [checkpoint?.checkpoint_ns ?? "", name]));
  graphs.delete("");
  if (graphs.size === 0) return null;
  return (
    <ul class="inner">
      {[...graphs].map(([ns, name]) => (
        <li key={ns}>
          <a href={stepHref(undefined, { ns })}>{strings.drawing.open(visible(name))}</a>
        </li>
      ))}
    </ul>
  );
}
