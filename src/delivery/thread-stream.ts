/** The frames of a thread's runs, one run after the other, for `client.threads.joinStream()` of the SDK. */
import { FrameLog } from "../frames/run-log.js";
import type { FeedReader } from "../frames/thread-feed.js";
import type { EventFilter, ProtocolFrame } from "../models/protocol.js";
import {
  LAST_EVENTS,
  type Frame,
  type FrameStream,
  type JoinedStream,
  type ThreadStreamMode,
} from "../models/run-stream.js";
import type { EngineContext } from "../runs/live-runs.js";
import { InvalidRequestError, NotFoundError } from "../support/errors.js";
import { nextTurn } from "../support/event-loop.js";
import { visibleThread } from "../threads/thread-origin.js";
import { joinRunStream } from "./join.js";

export interface ThreadStreamOptions {
  /** Id of the last frame that the client has seen, or -1 for all retained runs; by default, ended runs are left out. */
  lastEventId?: string;
  modes?: readonly ThreadStreamMode[];
}

/** The events of threads. See `ThreadFeeds`. */
interface ThreadEvents {
  poll(threadId: string): Promise<void>;
  read(threadId: string, filter: EventFilter): FeedReader;
}

/** Root lifecycle events have these ids. */
const RUN_EVENT = /^synth:([0-9a-f-]{36}):/;
const FRAME_ID = /^([0-9a-f-]{36}):(\d{1,15}|done)$/;

/** Position of a client: a run, and its last frame of it. */
interface Seen {
  runId: string;
  frame: number;
}

/**
 * Follows the runs of a thread until the client disconnects or the thread is deleted. A frame has the id
 * `{run_id}:{frame id}`, and after each run there is a frame `run_done` {run_id, status}.
 * @throws NotFoundError (`thread_not_found`)
 * @throws InvalidRequestError for an unknown position (`invalid_request`)
 * @throws GraphServeError if the thread has too many readers (`too_many_streams`)
 */
export async function joinThreadStream(
  context: EngineContext,
  feeds: ThreadEvents,
  threadId: string,
  { lastEventId, modes = ["run_modes"] }: ThreadStreamOptions,
): Promise<FrameStream> {
  const seen = lastEventId === undefined || lastEventId === "-1" ? undefined : positionOf(lastEventId);
  const { thread_id } = await visibleThread(context, threadId);
  await feeds.poll(thread_id);
  // Let the feed receive the frames that the logs already hold.
  await nextTurn();
  const events = feeds.read(thread_id, { channels: ["lifecycle"], namespaces: [[]], depth: 0 });
  try {
    // The feed of a thread that was deleted in the meantime would never end.
    await visibleThread(context, threadId);
  } catch (error) {
    events.leave();
    throw error;
  }
  const skipped = skippedRuns(events.retained(), lastEventId, seen);
  const ids = new FrameLog<{ data: string }>();
  const queued = ids.read();
  const reading = queueRuns(events, (runId) => !skipped.has(runId) && ids.append({ data: runId })).finally(
    () => ids.close(),
  );
  reading.catch(() => {});
  let current: JoinedStream | undefined;
  let hasLeft = false;
  const isShown = (event: string) => modes.includes("run_modes") || event === "metadata";
  async function* frames(): AsyncGenerator<readonly Frame[], void, undefined> {
    for await (const batch of queued)
      for (const { data: runId } of batch) {
        const after = seen?.runId === runId ? seen.frame : -1;
        current = await joinRunStream(context, thread_id, runId, { after }).catch(unlessDeleted);
        if (hasLeft) current?.disconnect();
        const ended = current?.isOver ? await context.storage.runs.get(thread_id, runId) : undefined;
        if (current) yield* runFrames(runId, current, isShown, ended?.status);
      }
    await reading;
  }
  return {
    frames: frames(),
    disconnect: () => {
      hasLeft = true;
      events.leave();
      queued.leave();
      current?.disconnect();
    },
  };
}

async function* runFrames(
  runId: string,
  { frames }: JoinedStream,
  isShown: (event: string) => boolean,
  status: string | undefined,
): AsyncGenerator<readonly Frame[], void, undefined> {
  try {
    for await (const batch of frames) {
      const last = batch.at(-1);
      if (last && LAST_EVENTS.has(last.event)) status = statusOf(last.data);
      const shown = batch.filter(({ event }) => isShown(event));
      if (shown.length > 0) yield shown.map((frame) => ({ ...frame, id: `${runId}:${frame.id}` }));
    }
  } catch (error) {
    return unlessDeleted(error);
  }
  if (status === undefined) return;
  yield [{ id: `${runId}:done`, event: "run_done", data: JSON.stringify({ run_id: runId, status }) }];
}

const statusOf = (data: string): string => (JSON.parse(data) as { status?: string }).status ?? "error";

/** Calls `onRun` for each run, in the order in which they start. Reads all events at once: slow readers lose some. */
async function queueRuns(
  events: AsyncIterable<readonly ProtocolFrame[]>,
  onRun: (runId: string) => void,
): Promise<void> {
  const known = new Set<string>();
  for await (const batch of events)
    for (const { id } of batch) {
      const runId = runOf(id);
      if (runId === "" || known.has(runId)) continue;
      known.add(runId);
      onRun(runId);
    }
}

/** Retained runs that are not sent: those that the client has seen, or that had ended when a new client connected. */
function skippedRuns(
  retained: readonly ProtocolFrame[],
  lastEventId: string | undefined,
  seen: Seen | undefined,
): ReadonlySet<string> {
  const ended = retained.flatMap(({ id, endsRun }) => (endsRun ? [runOf(id)] : []));
  if (lastEventId === undefined) return new Set(ended);
  if (!seen || !retained.some(({ id }) => runOf(id) === seen.runId)) return new Set();
  const at = ended.indexOf(seen.runId);
  const before = at < 0 ? ended : ended.slice(0, at);
  return new Set(seen.frame === Infinity ? [...before, seen.runId] : before);
}

const runOf = (eventId: string): string => RUN_EVENT.exec(eventId)?.[1] ?? "";

function positionOf(lastEventId: string): Seen {
  const [, runId, frame] = FRAME_ID.exec(lastEventId) ?? [];
  if (runId === undefined)
    throw InvalidRequestError.at(
      ["header", "Last-Event-ID"],
      "must be the id of a frame of this stream, or -1",
    );
  return { runId, frame: frame === "done" ? Infinity : Number(frame) };
}

function unlessDeleted(error: unknown): undefined {
  if (!(error instanceof NotFoundError)) throw error;
}
