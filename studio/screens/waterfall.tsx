/** Timeline of the selected step's run. */
import { useSignalEffect } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import type { RunTask, RunTasks } from "../../src/models/run.js";
import { Fault, Waiting } from "../components/common.js";
import { movedBy, rowId, Rows } from "../components/rows.js";
import { dollars, msText, visible } from "../components/text.js";
import { graphAround, type TimedRow, timeline, type Timeline } from "../components/timeline.js";
import { go } from "../router.js";
import { namespace, stepHref, steps } from "../state/thread.js";
import { chosenRun, readTimes, times } from "../state/times.js";
import { strings } from "../strings.js";
import { Tokens } from "./tokens.js";

export function Waterfall() {
  useSignalEffect(readTimes);
  const run = chosenRun.value;
  if (run === undefined) return <p class="dim">{strings.times.noRun}</p>;
  if (times.error.value) return <Fault error={times.error.value} retry={readTimes} />;
  const told = times.value.value;
  if (told?.of !== run) return <Waiting />;
  return (
    <>
      <Tokens told={told.tasks} />
      {told.tasks.tasks.length === 0 ? (
        <p class="dim">{strings.times.none}</p>
      ) : (
        <Line key={run} told={told.tasks} />
      )}
    </>
  );
}

const LIST = "waterfall";
const ROW = 28;

function Line({ told }: { told: RunTasks }) {
  const line = useMemo(() => timeline(told.tasks, Date.now()), [told]);
  const [active, setActive] = useState(-1);
  const onKey = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey) return;
    const to = movedBy(event.key, active, line.rows.length);
    const chosen = line.rows[active];
    if (to !== undefined) setActive(to);
    else if (event.key === "Enter" && chosen) open(chosen.task);
    else return;
    event.preventDefault();
  };
  return (
    <section class="waterfall" aria-label={strings.times.title}>
      <header class="waterfall-head">
        <span class="dim small-text">{strings.times.took(msText(line.ms), line.rows.length)}</span>
        {told.omitted > 0 && <span class="dim small-text">{strings.times.omitted(told.omitted)}</span>}
        <Legend line={line} />
      </header>
      <Rows
        id={LIST}
        role="listbox"
        label={strings.times.title}
        count={line.rows.length}
        height={ROW}
        active={active}
        onKey={onKey}
        row={(index) => (
          <Bar
            key={index}
            row={line.rows[index] as TimedRow}
            line={line}
            id={rowId(LIST, index)}
            isActive={index === active}
          />
        )}
      />
    </section>
  );
}

const KINDS = ["node", "model", "tool"] as const;

const Legend = ({ line }: { line: Timeline }) => (
  <span class="legend small-text dim">
    {KINDS.filter((kind) => line.rows.some(({ task }) => task.kind === kind)).map((kind) => (
      <span key={kind} class={`bar-key is-${kind}`}>
        {strings.times[kind]}
      </span>
    ))}
    {line.pauses.length > 0 && <span class="bar-key is-pause">{strings.times.pause}</span>}
  </span>
);

interface BarProps {
  row: TimedRow;
  line: Timeline;
  id: string;
  isActive: boolean;
}

const percent = (share: number): string => `${(share * 100).toFixed(3)}%`;

function Bar({ row: { task, depth, ms, left, width }, line, id, isActive }: BarProps) {
  const { kind, name, state, usage, error } = task;
  return (
    <div id={id} class="row bar-row" role="option" aria-selected={isActive} onClick={() => open(task)}>
      <span class="bar-name one-line" style={{ paddingLeft: `${Math.min(depth, 8) * 14}px` }}>
        {kind !== "node" && <span class="visually-hidden">{strings.times[kind]} </span>}
        {visible(name)}
        {state !== "done" && (
          <span class={`bar-state is-${state}`} title={error && visible(error)}>
            {` ${strings.times.states[state]}`}
            {error !== undefined && `: ${visible(error)}`}
          </span>
        )}
      </span>
      <span class="bar-track">
        {line.pauses.map((pause, index) => (
          <span
            key={index}
            class="bar-pause"
            style={{ left: percent(pause.left) }}
            title={msText(pause.ms)}
          />
        ))}
        <span
          class={`bar-box is-${kind} is-${state}`}
          style={{ left: percent(left), width: percent(width) }}
        />
      </span>
      <span class="bar-ms">
        {usage && (
          <span class="dim">
            {usage.cost_usd !== undefined && `${dollars(usage.cost_usd)} `}
            {strings.times.tokens(usage.total_tokens)}
          </span>
        )}{" "}
        {msText(ms)}
      </span>
    </div>
  );
}

/** Open the task's step or, for a task of a subgraph, the steps of that subgraph. */
function open(task: RunTask): void {
  const around = graphAround(task);
  const run = chosenRun.value;
  const step = steps.value.find(({ runId, number }) => runId === run && number === task.step);
  if (around !== namespace.value) go(stepHref(undefined, { ns: around }));
  else if (step) go(stepHref(step.id), { replace: true });
}
