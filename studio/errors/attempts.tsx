/** Runs a node again with the saved code, and shows both attempts side by side. */
import { isRecord } from "../../src/models/json.js";
import type { StudioNodeRun } from "../../src/models/studio.js";
import { isReadOnly } from "../api.js";
import { Fault } from "../parts/common.js";
import { jsonText, msText, visible } from "../parts/text.js";
import { live, run } from "../state/conversation.js";
import { hello } from "../state/hello.js";
import { attempt, runNodeAgain } from "../state/run-fault.js";
import { strings } from "../strings.js";

interface AgainProps {
  threadId: string;
  /** The checkpoint before the step. */
  checkpointId: string | undefined;
}

/** Only `dev` can run the project's code. */
export function RunAgain({ threadId, checkpointId }: AgainProps) {
  if (isReadOnly || hello.value === undefined || checkpointId === undefined) return null;
  const isBusy = attempt.value?.isRunning === true;
  return (
    <button
      type="button"
      class="main"
      data-again
      title={strings.faults.againHint}
      aria-busy={isBusy}
      disabled={isBusy || live.value !== undefined}
      onClick={() => void runNodeAgain(threadId, checkpointId)}
    >
      {isBusy ? strings.faults.againBusy : strings.faults.again}
    </button>
  );
}

export function Attempts({ checkpointId, error }: Pick<AgainProps, "checkpointId"> & { error: string }) {
  const mine = attempt.value?.checkpointId === checkpointId ? attempt.value : undefined;
  if (mine?.refusal) return <Fault error={mine.refusal} />;
  if (!mine?.result) return null;
  const { result } = mine;
  const isFailed = result.error !== null;
  return (
    <section class="attempts" aria-label={strings.faults.attempts}>
      <div class="attempt">
        <h3>
          <span class="bad" aria-hidden="true">
            ✕
          </span>{" "}
          {strings.faults.attempt(1)} <span class="dim">{strings.faults.stateThen}</span>
        </h3>
        <p class="bad attempt-error">{visible(error)}</p>
        <Values values={result.before} changed={new Set()} />
      </div>
      <div class="attempt">
        <h3>
          <span class={isFailed ? "bad" : "good"} aria-hidden="true">
            {isFailed ? "✕" : "✓"}
          </span>{" "}
          {strings.faults.attempt(2)}{" "}
          <span class="dim">
            {msText(result.ms)} · {strings.faults.stateNow}
          </span>
        </h3>
        {isFailed && <p class="bad attempt-error">{visible(result.error ?? "")}</p>}
        <Values values={result.after} changed={changedKeys(result)} />
      </div>
      <footer class="attempts-foot">
        <span class="dim" role="status">
          {strings.faults.calls(result.calls)}
        </span>
        {!isFailed && (
          <button type="button" data-continue onClick={() => void continueRun()}>
            {strings.faults.goOn}
          </button>
        )}
      </footer>
    </section>
  );
}

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
  const text = jsonText(value);
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}

function changedKeys({ before, after }: StudioNodeRun): ReadonlySet<string> {
  if (!isRecord(before) || !isRecord(after)) return new Set();
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return new Set(keys.filter((key) => jsonText(before[key]) !== jsonText(after[key])));
}
