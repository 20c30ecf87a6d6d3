/** Actions for finished runs, available with `dev`: case file, run again, replay. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ApiError, isReadOnly } from "../api.js";
import { go, href } from "../router.js";
import { hello } from "../state/hello.js";
import { againAction, readRecordings, startReplay } from "../state/helper.js";
import { strings } from "../strings.js";
import { openCase } from "./case-dialog.js";
import { CopyAs } from "./copy-as.js";

/** Ids of the runs that have a recording. */
const recorded = signal<ReadonlySet<string>>(new Set());

/** Reload the recorded run ids whenever `asked` changes. */
export function useRecordings(asked: unknown): void {
  const isHelped = hello.value !== undefined && !isReadOnly;
  useEffect(() => {
    if (!isHelped) return;
    // On failure the Replay button stays hidden.
    readRecordings().then(
      (ids) => (recorded.value = new Set(ids)),
      () => undefined,
    );
  }, [isHelped, asked]);
}

interface RunActionsProps {
  threadId: string;
  runId: string;
  onFault: (error: ApiError) => void;
}

export function RunActions({ threadId, runId, onFault }: RunActionsProps) {
  if (!hello.value || isReadOnly) return null;
  const again = (isRecorded: boolean) =>
    void startReplay({ thread_id: threadId, run_id: runId, recorded: isRecorded })
      .then(({ thread_id }) => go(href(["threads", thread_id])))
      .catch(onFault);
  const of = <span class="visually-hidden"> {runId}</span>;
  return (
    <span class="run-actions">
      <button type="button" class="small" onClick={() => openCase({ threadId, runId })}>
        {strings.cases.button}
        {of}
      </button>
      <button type="button" class="small" title={strings.replays.againNote} onClick={() => again(false)}>
        {strings.replays.again}
        {of}
      </button>
      {recorded.value.has(runId) && (
        <button type="button" class="small" title={strings.replays.replayNote} onClick={() => again(true)}>
          {strings.replays.replay}
          {of}
        </button>
      )}
      <CopyAs of={strings.copyAs.again} action={() => againAction(threadId, runId)} />
    </span>
  );
}
