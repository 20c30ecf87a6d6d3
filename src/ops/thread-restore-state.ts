/** Stores a checkpoint by what clients saw of it: a graph goes on from its values and from the nodes that come next. */
import type { Checkpoint, PendingWrite } from "@langchain/langgraph-checkpoint";
import { assertPlainData, coerceValues } from "../graphs/coerce.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { ThreadState, ThreadTask } from "../models/state.js";
import type { Checkpointer } from "../storage/storage.js";
import { now } from "./context.js";

const START = "__start__";
/** The answer of a functional entrypoint, whose state has no keys. */
const ANSWER = "__end__";
/** The channel by which LangGraph calls a node. */
const toNode = (name: string): string => (name === START ? START : `branch:to:${name}`);

/** @throws InvalidRequestError when the state cannot be stored (`invalid_request`) */
export async function putState(
  checkpointer: Checkpointer,
  threadId: string,
  state: ThreadState,
  runIds: ReadonlyMap<unknown, string>,
): Promise<void> {
  const id = state.checkpoint?.checkpoint_id ?? "";
  const channels = channelsOf(state, ["states", id]);
  const version = checkpointer.getNextVersion(undefined);
  const versions = Object.fromEntries(Object.keys(channels).map((name) => [name, version]));
  const checkpoint: Checkpoint = {
    v: 4,
    id,
    ts: state.created_at ?? now(),
    channel_values: channels,
    channel_versions: versions,
    versions_seen: {},
  };
  const { run_id, thread_id: _, ...metadata } = state.metadata;
  assertPlainData(metadata, ["states", id, "metadata"]);
  const written = await checkpointer.put(
    {
      configurable: {
        thread_id: threadId,
        checkpoint_ns: state.checkpoint?.checkpoint_ns ?? "",
        ...(state.parent_checkpoint?.checkpoint_id && {
          checkpoint_id: state.parent_checkpoint.checkpoint_id,
        }),
        ...(typeof run_id === "string" && { run_id: runIds.get(run_id) ?? run_id }),
      },
    },
    checkpoint,
    { source: "loop", step: 0, parents: {}, ...metadata },
    versions,
  );
  for (const task of state.tasks) {
    const writes = writesOf(task);
    if (writes.length > 0) await checkpointer.putWrites(written, writes, task.id);
  }
}

/** Keys of the state, and the calls of the nodes that come next. */
function channelsOf({ values, next, tasks }: ThreadState, loc: string[]): JsonObject {
  const coerced = coerceValues(values ?? {}, loc);
  const channels: JsonObject = isRecord(coerced) ? { ...coerced } : { [ANSWER]: coerced };
  for (const name of next) {
    const result = tasks.find((task) => task.name === name)?.result;
    channels[toNode(name)] = name === START ? coerceValues(result ?? {}, loc) : null;
  }
  return channels;
}

function writesOf({ interrupts, error }: ThreadTask): PendingWrite[] {
  assertPlainData(interrupts, ["interrupts"]);
  return [
    ...interrupts.map((interrupt): PendingWrite => ["__interrupt__", interrupt]),
    ...(error == null ? [] : [["__error__", errorOf(error)] as PendingWrite]),
  ];
}

function errorOf(text: string): unknown {
  try {
    const error = JSON.parse(text) as unknown;
    assertPlainData(error, ["error"]);
    return error;
  } catch {
    return { name: "Error", message: text };
  }
}
