/** Runs of a thread, newest first, with their outcome; the run in flight can be cancelled. */
import { useEffect, useState } from "preact/hooks";
import type { Run } from "../../src/models/run.js";
import { isFinished } from "../../src/models/run-status.js";
import { type ApiError, ask } from "../api.js";
import { href } from "../router.js";
import { live } from "../state/conversation.js";
import { cancelAction, cancelRun } from "../state/live-run.js";
import { load, loading } from "../state/loading.js";
import { failureText } from "../state/schema-issues.js";
import { strings } from "../strings.js";
import { Fault, Waiting } from "./common.js";
import { CopyAs } from "./copy-as.js";
import { More } from "./end-of-list.js";
import { costNote, runCostText } from "./costs.js";
import { RunActions, useRecordings } from "./run-actions.js";
import { Ago, msText, visible } from "./text.js";

type ListedRun = Pick<
  Run,
  "run_id" | "status" | "created_at" | "updated_at" | "error" | "usage" | "assistant_id"
>;

const SELECT = ["run_id", "status", "created_at", "updated_at", "error", "usage", "assistant_id"];
const PAGE = 20;

async function read(threadId: string, offset: number): Promise<ListedRun[]> {
  const select = SELECT.map((field) => `select=${field}`).join("&");
  const path = `/threads/${encodeURIComponent(threadId)}/runs?limit=${PAGE}&offset=${offset}&${select}`;
  return (await ask<ListedRun[]>("GET", path)).body;
}

/** Give it the id of the thread as its key: runs of another thread must not appear. */
export function RunList({ threadId }: { threadId: string }) {
  const [runs] = useState(() => loading<ListedRun[]>());
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [most, setMost] = useState(PAGE);
  const runId = live.value?.runId;
  const reload = () => load(runs, () => read(threadId, 0));
  useEffect(() => void reload(), [runId]);
  const all = runs.value.value;
  useRecordings(all);
  if (runs.error.value) return <Fault error={runs.error.value} retry={() => void reload()} />;
  if (!all) return <Waiting />;
  if (all.length === 0) return <p class="dim">{strings.runs.none}</p>;
  const more = async () => {
    const next = await read(threadId, all.length);
    setMost(most + PAGE);
    runs.value.value = [...all, ...next];
  };
  return (
    <>
      {fault && <Fault error={fault} />}
      <ul class="runs">
        {all.map((run) => (
          <RunRow
            key={run.run_id}
            run={run}
            threadId={threadId}
            onFault={setFault}
            onChange={() => void reload()}
          />
        ))}
      </ul>
      {all.length >= most && <More more={() => void more().catch(setFault)} />}
    </>
  );
}

interface RowProps {
  run: ListedRun;
  threadId: string;
  onFault: (error: ApiError) => void;
  onChange: () => void;
}

function RunRow({ run, threadId, onFault, onChange }: RowProps) {
  const { run_id, status, created_at, updated_at, error, usage } = run;
  const isOver = isFinished(run);
  // A sum over the whole thread does not describe this run.
  const tokens = usage && usage.source !== "messages" ? usage.total_tokens : 0;
  const target = { threadId, runId: run_id };
  return (
    <li>
      <span class={`status is-${STATUS_CLASS[status]}`}>{strings.runs.ended[status]}</span>
      <code>{run_id.slice(0, 13)}</code>
      <Ago at={created_at} />
      {isOver && <span>{msText(Date.parse(updated_at) - Date.parse(created_at))}</span>}
      {tokens > 0 && <span>{strings.runs.tokens(tokens)}</span>}
      {tokens > 0 && <span>{costNote(runCostText(usage))}</span>}
      {!isOver && (
        <>
          <a href={href(["run", threadId])}>{strings.runs.watch}</a>
          <button
            type="button"
            class="small"
            onClick={() => void cancelRun(target, "interrupt").then(onChange, onFault)}
          >
            {strings.runs.cancel}
          </button>
          <CopyAs action={() => cancelAction(target)} />
        </>
      )}
      {isOver && <RunActions {...target} onFault={onFault} />}
      {error !== null && (
        <span class="bad one-line">{visible(failureText(error)).replaceAll("\n", " ")}</span>
      )}
    </li>
  );
}

const STATUS_CLASS = {
  pending: "busy",
  running: "busy",
  success: "idle",
  interrupted: "interrupted",
  error: "error",
  timeout: "error",
} as const;
