/** The step that failed: it has no checkpoint, so it is shown above the one that it started from. */
import { useEffect, useState } from "preact/hooks";
import type { SelectedState } from "../../src/models/state.js";
import { userNodes } from "../../src/view/diagram.js";
import { errorLine } from "../../src/view/text.js";
import { ask } from "../api.js";
import { load, loading } from "../state/loading.js";
import { namespace, row, stepHref, steps, threadId } from "../state/thread.js";
import { strings } from "../strings.js";
import { visible } from "./text.js";

/** Names of the tasks that failed; empty if the run failed between two steps, such as at the recursion limit. */
async function readFailed(id: string): Promise<string[]> {
  const path = `/threads/${encodeURIComponent(id)}/history`;
  const { body } = await ask<SelectedState[]>("POST", path, { body: { limit: 1, select: ["tasks"] } });
  const failed = (body[0]?.tasks ?? []).filter(({ error }) => error !== null);
  // The others were stopped because one failed.
  const first = failed.filter(({ error }) => !errorLine(error ?? "").startsWith("AbortError"));
  return (first.length > 0 ? first : failed).map(({ name }) => name);
}

export function FailedStep() {
  const thread = row.value.value;
  const [newest] = steps.value;
  const [failed] = useState(() => loading<readonly string[]>());
  const isFailed = thread?.status === "error" && namespace.value === "";
  const step = isFailed && newest && newest.next.length > 0 ? newest : undefined;
  const version = step && `${step.id} ${thread?.updated_at}`;
  useEffect(() => {
    let isStale = false;
    failed.value.value = undefined;
    if (version !== undefined)
      void load(
        failed,
        () => readFailed(threadId.peek()),
        () => isStale,
      );
    return () => void (isStale = true);
  }, [version]);
  const names = failed.value.value;
  if (!step || !names) return null;
  const namesOf = (nodes: readonly string[]) => [...new Set(userNodes(nodes))].map(visible).join(", ");
  return (
    <a class="failed-step" href={stepHref(undefined)} data-failed>
      <span aria-hidden="true">✕</span>{" "}
      {names.length > 0 ? strings.faults.step(namesOf(names)) : strings.questions.failed(namesOf(step.next))}
    </a>
  );
}
