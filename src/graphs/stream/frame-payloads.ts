/** Payloads of the `tasks`, `checkpoints` and `debug` modes as clients may see them. */
import { isRecord, type JsonObject } from "../../models/common.js";
import type { OutputFilter } from "../output-filter.js";
import { metadataToWire } from "../serialize.js";
import { checkpointRefOf } from "../snapshot.js";

type Payload = JsonObject;

/** A task that begins, with its input, or that has ended, with what it wrote. */
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

/** A task of a checkpoint: its result is state, and so is that of the graph that it is, which may stand in it. */
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

/** A config as clients may see it: the checkpoint it names; the rest is the server's own. */
const publicConfig = (config: unknown) => {
  const checkpoint = checkpointRefOf(isRecord(config) ? config : undefined);
  return checkpoint && { configurable: checkpoint };
};
