/** Actions for finished runs, available with `dev`: case file, run again, replay. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type ApiError, isReadOnly } from "../api.js";
import { unlessBusy } from "../focus.js";
import { href } from "../router.js";
import { hello } from "../state/hello.js";
import { againAction, readRecordings, startReplay } from "../state/helper.js";
import { strings } from "../strings.js";
import { openCase } from "./case-dialog.js";
import { CopyAs } from "./copy-as.js";

/** Ids of the runs that have a recording. */
const recorded = signal<ReadonlySet<string>>(new Set());

/** The copies on which runs are run again, by run id: the thread of the copy, or undefined while it is made. */
const copies = signal<ReadonlyMap<string, string | undefined>>(new Map());

function setCopy(runId: string, copy?: { thread: string | undefined }): void {
  const next = new Map(copies.value);
  if (copy) next.set(runId, copy.thread);
  else next.delete(runId);
  copies.value = next;
}

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
  const isBusy = copies.value.has(runId) && copies.value.get(runId) === undefined;
  const copy = copies.value.get(runId);
  const again = (isRecorded: boolean) => {
    setCopy(runId, { thread: undefined });
    startReplay({ thread_id: threadId, run_id: runId, recorded: isRecorded }).then(
      ({ thread_id }) => setCopy(runId, { thread: thread_id }),
      (error: ApiError) => {
        setCopy(runId);
        onFault(error);
      },
    );
  };
  const of = <span class="visually-hidden"> {runId}</span>;
  const button = (isRecorded: boolean, label: string, title: string) => (
    <button type="button" class="small" title={title} {...unlessBusy(isBusy, () => again(isRecorded))}>
      {label}
      {of}
    </button>
  );
  return (
    <span class="run-actions">
      <button type="button" class="small" onClick={() => openCase({ threadId, runId })}>
        {strings.cases.button}
        {of}
      </button>
      {button(false, isBusy ? strings.replays.starting : strings.replays.again, strings.replays.againNote)}
      {recorded.value.has(runId) && button(true, strings.replays.replay, strings.replays.replayNote)}
      <span role="status">
        {copy !== undefined && <a href={href(["threads", copy])}>{strings.replays.open}</a>}
      </span>
      <CopyAs of={strings.copyAs.again} action={() => againAction(threadId, runId)} />
    </span>
  );
}
