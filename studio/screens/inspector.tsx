/** The selected step: its changes, state and tasks. */
import type { TargetedKeyboardEvent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isRecord } from "../../src/models/json.js";
import type { ThreadState, ThreadTask } from "../../src/models/state.js";
import { userNodes } from "../../src/view/diagram.js";
import { errorLine } from "../../src/view/text.js";
import { isReadOnly, shared } from "../api.js";
import { Changes } from "../components/changes.js";
import { Fault, Section, Waiting } from "../components/common.js";
import { openCase } from "../components/case-dialog.js";
import { Attempts, RunAgain } from "../errors/attempts.js";
import { FaultCard } from "../errors/fault-card.js";
import { Copy, jsonText, LongText, Value, visible } from "../components/text.js";
import { movedAcross } from "../components/rows.js";
import { findStep } from "../components/step-finder.js";
import { Tree } from "../components/tree.js";
import { go, href, place, withQuery } from "../router.js";
import { conditionText } from "../state/condition.js";
import {
  chosenId,
  chosenStep,
  lookAgain,
  looked,
  namespace,
  row,
  stepHref,
  steps,
  threadId,
} from "../state/thread.js";
import type { Looked } from "../state/steps-view.js";
import { hello } from "../state/hello.js";
import { graphOf } from "../state/threads.js";
import { keyOf, watched } from "../state/node-reruns.js";
import { chosenRun } from "../state/times.js";
import { isHidden } from "../state/state-keys.js";
import { strings } from "../strings.js";
import { isForking } from "../state/fork.js";
import { Fork, useForkFocus, WrittenNote } from "./fork.js";
import { Messages } from "./messages.js";
import { StepDrawing } from "./step-drawing.js";
import { Waterfall } from "./waterfall.js";

/** Views of the tab Run. Saved pages contain no times. */
const RUN_VIEWS = (["tasks", "times", "drawing", "meta", "raw"] as const).filter(
  (view) => !shared || view !== "times",
);
type RunView = (typeof RUN_VIEWS)[number];
type View = "changes" | "state" | "messages" | RunView;

/** Tabs by key; `run` opens the first view of the tab Run. */
export const TABS = ["changes", "state", "messages", "run"] as const;
type Tab = (typeof TABS)[number];

const isRunView = (view: string): view is RunView => RUN_VIEWS.some((each) => each === view);

function viewOf(name = "changes"): View {
  if (name === "run") return "tasks";
  return isRunView(name) || name === "state" || name === "messages" ? name : "changes";
}

export const tabHref = (tab: Tab | View): string =>
  stepHref(place.value.path[3], { tab: tab === "changes" ? undefined : tab === "run" ? "tasks" : tab });

export function Inspector() {
  const view = viewOf(place.value.query.tab);
  const tab = isRunView(view) ? "run" : view;
  const { value: content } = looked.value;
  const error = looked.error.value;
  useForkFocus();
  return (
    <section class="inspector" aria-label={strings.thread.details}>
      <WrittenNote />
      <div class="inspector-head">
        <Tabs of={TABS} chosen={tab} label={strings.thread.details} />
        {namespace.value === "" && chosenId.value !== steps.value[0]?.id && (
          <a href={href(["compare", `${threadId.value}@${chosenId.value}`, `${threadId.value}@-1`])}>
            {strings.compare.withNewest}
          </a>
        )}
        {!shared && <ForkLink />}
      </div>
      <div
        class={`panel is-${view}`}
        id="panel"
        role="tabpanel"
        aria-labelledby={`tab-${tab}`}
        aria-busy={looked.busy.value}
        tabIndex={0}
      >
        {content && <StepFault {...content} />}
        {content && !isForking.value && <StepAgain {...content} isOffered={view === "changes"} />}
        {content && isForking.value && <Fork state={content.state} />}
        {tab === "run" && <Tabs of={RUN_VIEWS} chosen={view} label={strings.thread.run} />}
        {error ? (
          <Fault error={error} retry={lookAgain} />
        ) : content ? (
          <Panel view={view} looked={content} />
        ) : (
          <Waiting />
        )}
      </div>
    </section>
  );
}

/** Why the step after the selected one failed. */
function StepFault({ state }: Looked) {
  const failed = state.tasks.find(({ error }) => error !== null);
  if (failed?.error == null || namespace.value !== "") return null;
  const isNewest = chosenId.value === steps.value[0]?.id;
  const { run_id: runId } = state.metadata;
  return (
    <FaultCard
      threadId={threadId.value}
      graph={graphName()}
      error={(isNewest ? row.value.value?.error : undefined) ?? errorLine(failed.error)}
      runId={!isNewest && typeof runId === "string" ? runId : undefined}
      checkpointId={state.checkpoint?.checkpoint_id ?? undefined}
    />
  );
}

const graphName = (): string => (row.value.value ? graphOf(row.value.value) : "");

interface StepAgainProps extends Looked {
  /** Whether to offer it; a result is shown anyway. */
  isOffered: boolean;
}

/** Runs the nodes that created the selected step again, from the state before it. */
function StepAgain({ state, parent, isOffered }: StepAgainProps) {
  const [stepId, checkpointId] = [state.checkpoint?.checkpoint_id, parent?.checkpoint?.checkpoint_id];
  const isNode = state.metadata.source === "loop" && userNodes(parent?.next ?? []).length > 0;
  // The card of a failed step offers that step instead.
  const isOther = namespace.value !== "" || state.tasks.some(({ error }) => error !== null);
  if (!isNode || isOther || !stepId || !checkpointId || isReadOnly || !hello.value) return null;
  const again = { superstep: { threadId: threadId.value, checkpointId, stepId }, graph: graphName() };
  return (
    <div class="step-again" hidden={!isOffered && watched.value !== keyOf(again.superstep)}>
      <p class="step-again-head">
        <RunAgain {...again} />
      </p>
      <Attempts {...again} />
    </div>
  );
}

/** A disabled action stays visible with its reason, so that users can find out why. */
function ForkLink() {
  if (isForking.value) return null;
  if (!isReadOnly)
    return (
      <a href={stepHref(chosenId.value, { fork: "1" })} data-fork>
        {strings.fork.button}
      </a>
    );
  return (
    <button
      type="button"
      class="small"
      aria-disabled="true"
      aria-description={strings.fork.readOnly}
      title={strings.fork.readOnly}
    >
      {strings.fork.button}
    </button>
  );
}

interface TabsProps {
  of: readonly (Tab | View)[];
  chosen: Tab | View;
  label: string;
}

function Tabs({ of, chosen, label }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  // On narrow screens the tabs scroll: center the selected one.
  useLayoutEffect(() => {
    const [box, tab] = [list.current, document.getElementById(`tab-${chosen}`)];
    if (!box || !tab) return;
    const [outer, inner] = [box.getBoundingClientRect(), tab.getBoundingClientRect()];
    box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  }, [chosen]);
  const onKey = (event: TargetedKeyboardEvent<HTMLElement>) => {
    const to = movedAcross(event.key, of.indexOf(chosen), of.length);
    if (to === undefined) return;
    event.preventDefault();
    const next = of[to] ?? chosen;
    go(tabHref(next), { replace: true });
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
      {of.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          aria-selected={tab === chosen}
          aria-controls="panel"
          tabIndex={tab === chosen ? 0 : -1}
          onClick={() => go(tabHref(tab), { replace: true })}
        >
          {strings.tabs[tab]}
        </button>
      ))}
    </div>
  );
}

function Panel({ view, looked: { state, parent } }: { view: View; looked: Looked }) {
  const key = chosenId.value;
  switch (view) {
    case "changes":
      return <Changes key={key} state={state} parent={parent} />;
    case "state":
      return <State values={state.values} />;
    case "tasks":
      return <Tasks state={state} parent={parent} />;
    case "messages":
      return <Messages values={state.values} />;
    case "drawing":
      return <StepDrawing state={state} parent={parent} />;
    case "times":
      return <Waterfall />;
    case "meta":
      return <Meta state={state} />;
    case "raw":
      return <Raw key={key} state={state} />;
  }
}

function State({ values }: { values: unknown }) {
  const isEmpty = values == null || (isRecord(values) && Object.keys(values).length === 0);
  if (isEmpty) return <p class="dim">{strings.state.nothing}</p>;
  const runId = chosenRun.value;
  return (
    <Tree
      root={isRecord(values) || Array.isArray(values) ? values : { value: values }}
      label={strings.state.tree}
      at={place.value.query.path}
      onChoose={(path) => go(withQuery({ path }), { replace: true })}
      isHidden={isHidden}
      onFind={
        shared || !isRecord(values)
          ? undefined
          : (path, value) =>
              void findStep(conditionText(path, value), chosenStep.value, { path, operator: "=", value })
      }
      onExpect={
        runId === undefined || isReadOnly || !hello.value || namespace.value !== ""
          ? undefined
          : (expect) => openCase({ threadId: threadId.value, runId, expect })
      }
    />
  );
}

function Tasks({ state, parent }: Looked) {
  const ran = state.metadata.source === "loop" ? (parent?.tasks ?? []) : [];
  return (
    <>
      <Section title={strings.tasks.ran}>
        {ran.length === 0 ? (
          <p class="dim">{strings.tasks.none}</p>
        ) : (
          ran.map((task) => <Task key={task.id} task={task} hasRun />)
        )}
      </Section>
      <Section title={strings.tasks.next}>
        {state.tasks.length === 0 ? (
          <p class="dim">{strings.tasks.noneNext}</p>
        ) : (
          state.tasks.map((task) => <Task key={task.id} task={task} hasRun={false} />)
        )}
      </Section>
    </>
  );
}

function Task({ task, hasRun }: { task: ThreadTask; hasRun: boolean }) {
  const { name, error, interrupts, result, checkpoint } = task;
  return (
    <article class="task">
      <header>
        <strong>{visible(name)}</strong>
        {checkpoint?.checkpoint_ns && (
          <a href={stepHref(undefined, { ns: checkpoint.checkpoint_ns })}>{strings.tasks.open}</a>
        )}
      </header>
      {error !== null && (
        <>
          <p class="bad">{strings.tasks.error}</p>
          <LongText class="code bad" text={errorLine(error)} />
        </>
      )}
      {interrupts.map((interrupt, index) => (
        <div class="asks" key={index}>
          <p>{strings.tasks.asks}</p>
          <Value value={interrupt.value} />
        </div>
      ))}
      {result != null ? (
        <>
          <p class="dim">{strings.tasks.wrote}</p>
          <Value value={result} />
        </>
      ) : (
        hasRun && error === null && <p class="dim">{strings.tasks.nothing}</p>
      )}
    </article>
  );
}

function Meta({ state }: { state: ThreadState }) {
  const { checkpoint, parent_checkpoint, created_at, metadata } = state;
  const facts: [string, string | null | undefined][] = [
    [strings.meta.checkpoint, checkpoint?.checkpoint_id],
    [strings.meta.parent, parent_checkpoint?.checkpoint_id],
    [strings.meta.created, created_at],
    [strings.meta.run, typeof metadata.run_id === "string" ? metadata.run_id : undefined],
  ];
  return (
    <>
      <dl class="meta">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {value == null ? (
                "–"
              ) : name === strings.meta.parent ? (
                <a href={stepHref(value)}>
                  <code>{visible(value)}</code>
                </a>
              ) : (
                <code>{visible(value)}</code>
              )}
            </dd>
          </div>
        ))}
      </dl>
      <Section title={strings.meta.metadata}>
        <Value value={metadata} />
      </Section>
    </>
  );
}

function Raw({ state }: { state: ThreadState }) {
  const text = jsonText(state);
  return (
    <>
      <p class="raw-head">
        <Copy text={() => text} />
      </p>
      <LongText class="code" text={text} most={100_000} />
    </>
  );
}
