/** Progress of a thread's run, or its outcome, with a button that stops it. */
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../api.js";
import { unlessBusy, useFocusKept } from "../focus.js";
import { graphOfView, useView } from "../state/conversation.js";
import { cancelAction } from "../state/live-run.js";
import type { Picture } from "../state/run-view.js";
import { strings } from "../strings.js";
import { Fault } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { FaultCard } from "../errors/fault-card.js";
import { visible } from "./text.js";

export function Progress() {
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const view = useView();
  const [run, seen] = [view.live.value, view.picture.value];
  useEffect(() => setFault(undefined), [run?.runId]);
  if (!run && !seen?.end) return null;
  return (
    <div class="progress">
      <p role="status">{run ? <Now seen={seen} /> : seen?.end && <Ended seen={seen} />}</p>
      {run && <Stop onFault={setFault} />}
      {run && !view.isConnected.value && <p class="bad">{strings.runs.lost}</p>}
      {!run && seen?.end?.error !== undefined && <Failure error={seen.end.error} />}
      {fault && <Fault error={fault} />}
    </div>
  );
}

/** How the last run failed, if this page did not watch it. */
export function LastFailure() {
  const view = useView();
  const { status, error } = view.row.value.value ?? {};
  // While a run is in flight, the error of the previous one stays in the thread.
  if (view.live.value || view.picture.value?.end || status !== "error" || error == null) return null;
  return (
    <div class="progress">
      <p class="status is-error">{strings.runs.ended.error}</p>
      <Failure error={error} />
    </div>
  );
}

function Failure({ error }: { error: string }) {
  const view = useView();
  const { tasks = [], checkpoint } = view.state.value.value ?? {};
  const before = tasks.length > 0 ? checkpoint?.checkpoint_id : undefined;
  return (
    <FaultCard
      threadId={view.id}
      graph={graphOfView(view)}
      error={error}
      checkpointId={before ?? undefined}
    />
  );
}

function Now({ seen }: { seen: Picture | undefined }) {
  const names = [...(seen?.nodes ?? [])].filter(([, each]) => each === "running").map(([id]) => id);
  return (
    <span class="status is-busy">
      <span aria-hidden="true">◐</span> {strings.runs.running(visible(names.join(", ")))}
    </span>
  );
}

function Ended({ seen: { end, nodes } }: { seen: Picture }) {
  if (!end) return null;
  const isAsking = [...nodes.values()].includes("waits");
  const name = isAsking ? "waits" : (end.status as keyof typeof strings.runs.ended);
  const kind = { success: "is-idle", interrupted: "is-interrupted" }[end.status] ?? "is-error";
  return (
    <span class={`status ${kind}`}>
      {strings.runs.ended[name] ?? visible(end.status)}
      {end.tokens !== undefined && end.tokens > 0 && (
        <span class="dim"> · {strings.runs.tokens(end.tokens)}</span>
      )}
    </span>
  );
}

function Stop({ onFault }: { onFault: (error: ApiError) => void }) {
  const view = useView();
  const run = view.live.value;
  const box = useFocusKept<HTMLSpanElement>();
  if (!run) return null;
  const { isStopping } = run;
  const pressed = (action: "interrupt" | "rollback") =>
    unlessBusy(isStopping, () => void view.stop(action).catch(onFault));
  return (
    <span ref={box} class="stop">
      <button type="button" {...pressed("interrupt")}>
        {isStopping ? strings.runs.stopping : strings.runs.stop}
      </button>
      <button type="button" title={strings.runs.rollbackHint} {...pressed("rollback")}>
        {strings.runs.rollback}
      </button>
      <CopyAs action={() => cancelAction(run)} />
      <CopyAs of={strings.copyAs.rollback} action={() => cancelAction(run, "rollback")} />
    </span>
  );
}
