/** Filters payloads of the `tasks`, `checkpoints` and `debug` modes for clients. */
import { isRecord, type JsonObject } from "../../models/common.js";
import type { OutputFilter } from "../output-filter.js";
import { metadataToWire } from "../serialize.js";
import { checkpointRefOf } from "../snapshot.js";

type Payload = JsonObject;

/** A task that started, with its input, or that ended, with its writes. */
export function taskPayload(task: unknown, filter: OutputFilter): unknown {
  if (!isRecord(task)) return null;
  const name = String(task.name);
  return {
    ...task,
    ...("input" in task && { input: filter.input(name, task.input) }),
    ...(task.result != null && { result: filter.writes(name, task.result) }),
    ...("metadata" in task && { metadata: metadataToWire(task.metadata) }),
  };
}

export function checkpointPayload(checkpoint: unknown, filter: OutputFilter): unknown {
  if (!isRecord(checkpoint)) return null;
  const { config, parentConfig, ...rest } = filterCheckpoint(checkpoint, filter);
  return {
    ...rest,
    config: publicConfig(config),
    parent_config: publicConfig(parentConfig),
    checkpoint: checkpointRefOf(isRecord(config) ? config : undefined),
    parent_checkpoint: checkpointRefOf(isRecord(parentConfig) ? parentConfig : undefined),
  };
}

export function debugPayload(event: unknown, filter: OutputFilter): unknown {
  if (!isRecord(event)) return null;
  const { type, payload } = event;
  return {
    ...event,
    payload: type === "checkpoint" ? checkpointPayload(payload, filter) : taskPayload(payload, filter),
  };
}

function filterCheckpoint(checkpoint: Payload, filter: OutputFilter): Payload {
  const { metadata, tasks } = checkpoint;
  return {
    ...checkpoint,
    ...("values" in checkpoint && { values: filter.values(checkpoint.values) }),
    ...(isRecord(metadata) &&
      metadata.writes != null && { metadata: { ...metadata, writes: filter.updates(metadata.writes) } }),
    ...(Array.isArray(tasks) && { tasks: tasks.map((task) => checkpointTask(task, filter)) }),
  };
}

/** A task of a checkpoint. Its result is state; it may also contain the state of its subgraph. */
function checkpointTask(task: unknown, filter: OutputFilter): unknown {
  if (!isRecord(task)) return null;
  const { result, state } = task;
  return {
    ...task,
    ...(result != null && { result: filter.values(result) }),
    ...(isRecord(state) &&
      "values" in state && { state: filterCheckpoint(state, filter.within(String(task.name))) }),
  };
}

/** A config for clients: only the checkpoint it names. */
const publicConfig = (config: unknown) => {
  const checkpoint = checkpointRefOf(isRecord(config) ? config : undefined);
  return checkpoint && { configurable: checkpoint };
};
