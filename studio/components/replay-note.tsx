/** Header of a thread created by a replay: source run, outcome, and a link that compares both. */
import { useEffect, useState } from "preact/hooks";
import { isRecord, type JsonObject } from "../../src/models/json.js";
import type { ReplayOf, StudioReplay } from "../../src/models/studio.js";
import { isReadOnly } from "../api.js";
import { href } from "../router.js";
import { hello } from "../state/hello.js";
import { readReplay } from "../state/helper.js";
import { strings } from "../strings.js";
import { Value, visible } from "./text.js";

const LOOK_AGAIN_MS = 1000;

/** Clients can write arbitrary metadata, so validate it. */
function replayOf({ replay_of: of }: JsonObject): ReplayOf | undefined {
  if (!isRecord(of)) return undefined;
  const { thread_id, run_id, checkpoint_id, recorded } = of;
  const isWhole = [thread_id, run_id, checkpoint_id].every((id) => typeof id === "string" && id !== "");
  return isWhole
    ? ({ thread_id, run_id, checkpoint_id, recorded: recorded === true } as ReplayOf)
    : undefined;
}

export function ReplayNote({ threadId, metadata }: { threadId: string; metadata: JsonObject }) {
  const of = replayOf(metadata);
  const replay = useReplay(threadId, of !== undefined && hello.value !== undefined && !isReadOnly);
  if (!of) return null;
  const { thread_id, run_id, checkpoint_id } = of;
  const isRunning = replay?.status === "running";
  return (
    <aside class="replay-note" aria-label={strings.replays.title}>
      <p>
        {of.recorded ? strings.replays.ofRecording : strings.replays.ofCode}{" "}
        <a href={href(["threads", thread_id, "at", checkpoint_id])}>
          <code>{visible(run_id.slice(0, 13))}</code>
        </a>
        {isRunning && <span role="status"> {strings.replays.running}</span>}
        {!isRunning && (
          <>
            {" "}
            <a href={href(["compare", `${thread_id}@${checkpoint_id}`, `${threadId}@-1`])}>
              {strings.replays.compare}
            </a>
          </>
        )}
      </p>
      {replay && !isRunning && <Outcome replay={replay} />}
    </aside>
  );
}

function Outcome({ replay: { of, error, differences } }: { replay: StudioReplay }) {
  return (
    <>
      {error !== null && <p class="bad one-line">{visible(error)}</p>}
      {of.recorded && differences.length === 0 && error === null && (
        <p role="status">{strings.replays.asRecorded}</p>
      )}
      {differences.map(({ message, expected, actual }) => (
        <details key={message}>
          <summary class="bad">{visible(message)}</summary>
          <p class="dim side">{strings.replays.recorded}</p>
          <Value value={expected} />
          <p class="dim side">{strings.replays.now}</p>
          <Value value={actual} />
        </details>
      ))}
    </>
  );
}

/** Polls the replay while it runs; undefined if this server does not know it. */
function useReplay(threadId: string, isAsked: boolean): StudioReplay | undefined {
  const [replay, setReplay] = useState<StudioReplay | undefined>(undefined);
  useEffect(() => {
    setReplay(undefined);
    if (!isAsked) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const look = async (): Promise<void> => {
      const found = await readReplay(threadId).catch(() => undefined);
      if (isGone) return;
      setReplay(found);
      if (found?.status === "running") timer = setTimeout(() => void look(), LOOK_AGAIN_MS);
    };
    void look();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [threadId, isAsked]);
  return replay;
}
