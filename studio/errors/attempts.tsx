/** Runs a node again with the saved code, on request or after each save, and shows old and new side by side. */
import { useEffect, useRef } from "preact/hooks";
import { isMessageLike, isRecord } from "../../src/models/json.js";
import type { StudioNodeRun } from "../../src/models/studio.js";
import { changesBetween } from "../../src/view/changes.js";
import { messageLine } from "../../src/view/text.js";
import { isReadOnly } from "../api.js";
import { Differences } from "../components/changes.js";
import { Fault } from "../components/common.js";
import { Problem } from "../components/problems.js";
import { jsonText, msText, visible } from "../components/text.js";
import { unlessBusy } from "../focus.js";
import { live, run } from "../state/conversation.js";
import { hello } from "../state/hello.js";
import {
  attempt,
  keyOf,
  leave,
  runNodeAgain,
  savedFault,
  stopAttempt,
  type Superstep,
  watched,
} from "../state/node-reruns.js";
import { strings } from "../strings.js";

interface AgainProps {
  superstep: Superstep;
  graph: string;
}

/** Only `dev` can run the project's code. */
export function RunAgain({ superstep, graph }: AgainProps) {
  if (isReadOnly || hello.value === undefined) return null;
  const isBusy = attempt.value?.isRunning === true;
  return (
    <>
      <button
        type="button"
        class={superstep.stepId === undefined ? "main" : "small"}
        data-again
        title={strings.faults.againHint}
        aria-busy={isBusy}
        disabled={!isBusy && live.value !== undefined}
        {...unlessBusy(isBusy, () => void runNodeAgain(superstep))}
      >
        {isBusy ? strings.faults.againBusy : strings.faults.again}
      </button>
      {hello.value.loads !== null && <OnSave key={keyOf(superstep)} superstep={superstep} graph={graph} />}
    </>
  );
}

/** Runs the node after each reload while it is checked. */
function OnSave({ superstep, graph }: AgainProps) {
  const key = keyOf(superstep);
  const isOn = watched.value === key;
  const loads = hello.value?.loads;
  const seen = useRef(loads);
  useEffect(() => {
    const isNew = seen.current !== loads;
    seen.current = loads;
    if (!isOn || !isNew) return;
    if (savedFault(graph)) stopAttempt();
    else void runNodeAgain(superstep);
  }, [isOn, loads]);
  return (
    <label class="check on-save" title={strings.faults.onSaveHint}>
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => void (watched.value = checked ? key : undefined)}
      />
      {strings.faults.onSave}
    </label>
  );
}

interface AttemptsProps extends AgainProps {
  /** Why the node failed; undefined if it stored a step. */
  error?: string;
}

export function Attempts({ superstep, graph, error }: AttemptsProps) {
  const key = keyOf(superstep);
  useEffect(() => () => leave(key), [key]);
  const fault = watched.value === key ? savedFault(graph) : undefined;
  if (fault)
    return (
      <section class="attempts-fault" aria-label={strings.faults.notLoaded}>
        <Problem faults={[fault]} place={hello.value?.place ?? ""} />
      </section>
    );
  const mine = attempt.value?.of === key ? attempt.value : undefined;
  if (mine?.refusal) return <Fault error={mine.refusal} />;
  if (!mine?.result) return null;
  const { result } = mine;
  return (
    <section class="attempts" aria-label={strings.faults.attempts} aria-busy={mine.isRunning}>
      {error === undefined ? <Stored result={result} /> : <Failed error={error} result={result} />}
      <footer class="attempts-foot">
        <span class="dim" role="status">
          {strings.faults.calls(result.calls, result.recorded)}
          {result.asks && ` ${strings.faults.asks}`}
          {error === undefined && ` ${isSame(result) ? strings.faults.same : strings.faults.differs}`}
        </span>
        {error !== undefined && result.error === null && (
          <button type="button" data-continue onClick={() => void continueRun()}>
            {strings.faults.goOn}
          </button>
        )}
      </footer>
    </section>
  );
}

/** What the node changed when it stored its step, and what it changes now. */
function Stored({ result }: { result: StudioNodeRun }) {
  const { before, stored, after, error, ms } = result;
  return (
    <>
      <div class="attempt">
        <h3>{strings.faults.stored}</h3>
        <Written before={before} after={stored} />
      </div>
      <div class="attempt">
        <Outcome title={strings.faults.savedCode} note={msText(ms)} isFailed={error !== null} />
        {error === null ? (
          <Written before={before} after={after} />
        ) : (
          <p class="bad attempt-error">{visible(error)}</p>
        )}
      </div>
    </>
  );
}

function Written({ before, after }: { before: unknown; after: unknown }) {
  if (jsonText(before) === jsonText(after)) return <p class="dim">{strings.changes.none}</p>;
  return <Differences before={before} after={after} />;
}

/** Whether both results are equal. Messages get new ids. */
const isSame = ({ stored, after, error }: StudioNodeRun): boolean =>
  error === null && changesBetween(stored, after).every(({ path }) => path.at(-1) === "id");

/** The error and the state at that moment, and the state after the new attempt. */
function Failed({ error, result }: { error: string; result: StudioNodeRun }) {
  const isFailed = result.error !== null;
  return (
    <>
      <div class="attempt">
        <Outcome title={strings.faults.attempt(1)} note={strings.faults.stateThen} isFailed />
        <p class="bad attempt-error">{visible(error)}</p>
        <Values values={result.before} changed={new Set()} />
      </div>
      <div class="attempt">
        <Outcome
          title={strings.faults.attempt(2)}
          note={`${msText(result.ms)} · ${strings.faults.stateNow}`}
          isFailed={isFailed}
        />
        {isFailed && <p class="bad attempt-error">{visible(result.error ?? "")}</p>}
        <Values values={result.after} changed={changedKeys(result)} />
      </div>
    </>
  );
}

const Outcome = ({ title, note, isFailed }: { title: string; note: string; isFailed: boolean }) => (
  <h3>
    <span class={isFailed ? "bad" : "good"} aria-hidden="true">
      {isFailed ? "✕" : "✓"}
    </span>{" "}
    {title} <span class="dim">{note}</span>
  </h3>
);

/** Resumes the thread itself: the failed task runs with the saved code. */
async function continueRun(): Promise<void> {
  if (await run({ input: null })) attempt.value = undefined;
}

const MOST_TEXT = 400;

function Values({ values, changed }: { values: unknown; changed: ReadonlySet<string> }) {
  const entries: [string, unknown][] = isRecord(values) ? Object.entries(values) : [["", values]];
  return (
    <dl class="attempt-values">
      {entries.map(([key, value]) => (
        <div key={key} class={changed.has(key) ? "is-changed" : ""}>
          <dt>{visible(key)}</dt>
          <dd>{visible(shortText(value))}</dd>
        </div>
      ))}
    </dl>
  );
}

function shortText(value: unknown): string {
  const isTalk = Array.isArray(value) && value.length > 0 && value.every(isMessageLike);
  const text = isTalk ? value.map(messageLine).join("\n") : jsonText(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

function changedKeys({ before, after }: StudioNodeRun): ReadonlySet<string> {
  if (!isRecord(before) || !isRecord(after)) return new Set();
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return new Set(keys.filter((key) => jsonText(before[key]) !== jsonText(after[key])));
}
