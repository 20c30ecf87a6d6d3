/** Stored checkpoints in exported files: filters their values for export, and validates them on import. */
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { InvalidRequestError } from "../support/errors.js";
import type { Issue } from "../support/errors/codes.js";
import { INTERRUPT, isStateChannel, SENDS } from "../models/channels.js";
import { isRecord, type JsonObject } from "../models/common.js";
import { mapSends, type StoredCheckpoint } from "../models/thread-file.js";
import { PASS_ALL, type OutputFilter } from "./output-filter.js";
import { withoutStateValues } from "./thrown.js";

const INPUT = "__start__";
const ERROR = "__error__";
/** Value that a functional entrypoint saves for its next run; its result is in `__end__`. */
const PREVIOUS = "__previous__";
/** Channels of a task that are always visible: its interrupts and their answers. */
const SHOWN = new Set([INTERRUPT, "__resume__", "__no_writes__", "__scheduled__"]);
const isTrigger = (channel: string): boolean => /^(branch|join):/.test(channel);

/** The checkpoint without hidden values. `filter` must be the filter of its namespace. */
export function visibleCheckpoint(stored: StoredCheckpoint, filter: OutputFilter): StoredCheckpoint {
  if (filter === PASS_ALL) return stored;
  const isVisible = (channel: string) =>
    filter.shows(channel) || !(isStateChannel(channel) || channel === PREVIOUS);
  const visible = <T>(record: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(record).filter(([channel]) => isVisible(channel)));
  const { writes: deltas, ...metadata } = stored.metadata;
  return {
    ...stored,
    metadata: { ...metadata, ...(deltas != null && { writes: filter.updates(deltas) }) },
    channel_values: Object.fromEntries(
      Object.entries(visible(stored.channel_values)).map(([channel, value]) => [
        channel,
        visibleValue(filter, channel, value),
      ]),
    ),
    channel_versions: visible(stored.channel_versions),
    versions_seen: Object.fromEntries(
      Object.entries(stored.versions_seen).map(([node, seen]) => [node, visible(seen)]),
    ),
    writes: stored.writes
      .filter(([, channel]) => isVisible(channel))
      .map(([task, channel, value]) => [task, channel, visibleValue(filter, channel, value)]),
  };
}

/** Values of visible keys pass. LangGraph's own channels that hold state are filtered. */
function visibleValue(filter: OutputFilter, channel: string, value: unknown): unknown {
  if (filter.shows(channel) || SHOWN.has(channel)) return value;
  if (channel === INPUT) return filter.input(INPUT, value);
  if (channel === SENDS) return mapSends(value, (args, node) => filter.input(node, args));
  if (channel === ERROR) return withoutStateValues(value);
  // A trigger is empty or holds the names of nodes.
  return isTrigger(channel) && !isRecord(value) ? value : null;
}

/** LangGraph's own serializer. Its class is not exported. */
const { serde } = new MemorySaver();

/** A stored value as JSON. */
export async function toStored(value: unknown): Promise<unknown> {
  const [, json] = await serde.dumpsTyped([value]);
  return (JSON.parse(new TextDecoder().decode(json)) as [unknown])[0];
}

/**
 * Reverses `toStored`.
 * @throws InvalidRequestError for objects that `toStored` does not produce (`invalid_request`)
 */
export async function fromStored(stored: unknown, loc: Issue["loc"]): Promise<unknown> {
  assertStoredData(stored, loc);
  return ((await serde.loadsTyped("json", JSON.stringify([stored]))) as [unknown])[0];
}

const MESSAGES = new Set(
  ["AI", "Human", "System", "Tool", "Function", "Chat", "Remove"].flatMap((name) => [
    `${name}Message`,
    `${name}MessageChunk`,
  ]),
);
const PLAIN_OBJECTS = new Set(["Set", "Map", "RegExp", "Error", "Uint8Array"]);

/** Allows only data, messages and built-in objects: the serializer would construct any other class that is named. */
function assertStoredData(value: unknown, loc: Issue["loc"]): void {
  const stack: unknown[] = [value];
  while (stack.length > 0) {
    const item = stack.pop();
    if (typeof item !== "object" || item === null) continue;
    const isReserved = Object.hasOwn(item, "lc") || Object.hasOwn(item, "__lc_escaped__");
    if (isReserved && !isKnownObject(item as JsonObject)) {
      const name = JSON.stringify((item as JsonObject).id ?? null);
      throw InvalidRequestError.at(loc, `objects of ${name} are not accepted here`, "reserved_key");
    }
    for (const inner of Object.values(item)) if (typeof inner === "object") stack.push(inner);
  }
}

function isKnownObject({ lc, type, id, kwargs }: JsonObject): boolean {
  if (lc === 2 && (type === "undefined" || type === "delta_snapshot")) return true;
  if (type !== "constructor" || !Array.isArray(id)) return false;
  const [name = "", ...path] = (id as unknown[]).map(String).reverse();
  if (lc === 2) return path.length === 0 && PLAIN_OBJECTS.has(name);
  return lc === 1 && path.join(".") === "messages.langchain_core" && MESSAGES.has(name) && isRecord(kwargs);
}
