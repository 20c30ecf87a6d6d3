/** Answers API requests on a page that contains a single thread. */
import { isMessageLike, type JsonObject } from "../../src/models/json.js";
import type { ChangedMessages, MessageCounts, SelectedState, ThreadState } from "../../src/models/state.js";
import { type Change, withChanges } from "../../src/view/changes.js";
import type { PageData, PageStep } from "../../src/view/replay-data.js";

/** Returns undefined for requests that the page cannot answer. */
export type Answerer = (path: string, body: unknown) => unknown;

export function answererOf({ thread, graph_id, steps }: PageData): Answerer {
  const byId = new Map(steps.map((step) => [step.id, step]));
  const row = { ...thread, metadata: graph_id === null ? {} : { graph_id }, extracted: {} };
  const newestFirst = [...steps].reverse();
  return (path, body) => {
    const [, last = ""] = /([^/?]+)(?:\?.*)?$/.exec(path) ?? [];
    if (path === "/threads/search") return [row];
    if (path === "/threads/count") return 1;
    if (last === "history")
      return statesPage(newestFirst, ({ id, step }) => [id, step], body).map((step) =>
        stateOf(step, thread.thread_id),
      );
    // The page has no run objects, only the run ids of its steps.
    if (last === "runs") return [];
    if (last !== "checkpoint") return undefined;
    const { checkpoint_id = "" } = (body as { checkpoint: { checkpoint_id?: string } }).checkpoint;
    const step = byId.get(checkpoint_id);
    return step && { ...stateOf(step, thread.thread_id), values: valuesOf(step, byId) };
  };
}

/** The requested part of a history, newest first; `keyOf` returns the id and the number of a step. */
export function statesPage<T>(
  steps: readonly T[],
  keyOf: (step: T) => readonly [id: string, number: unknown],
  body: unknown,
): T[] {
  const { limit = steps.length, before, metadata } = body as HistoryRequest;
  return steps
    .filter((step) => {
      const [id, number] = keyOf(step);
      if (before !== undefined && id >= before) return false;
      return metadata?.step === undefined || number === metadata.step;
    })
    .slice(0, limit);
}

/** Supported fields of a history request. */
interface HistoryRequest {
  limit?: number;
  /** Checkpoint ids sort by creation time. */
  before?: string;
  metadata?: { step?: number };
}

/** Applies changes from the nearest step that has complete values. */
function valuesOf(step: PageStep, byId: ReadonlyMap<string, PageStep>): unknown {
  const line = [step];
  let first: PageStep | undefined = step;
  while (first && first.base === undefined) {
    first = first.parent === null ? undefined : byId.get(first.parent);
    if (first) line.push(first);
  }
  const changes = line.reverse().flatMap((each) => each.changes);
  return withChanges(first?.base ?? {}, changes);
}

function stateOf(step: PageStep, thread_id: string): Omit<ThreadState, "values"> & SelectedState {
  const { id, parent, created_at, next, tasks, interrupts, changes, source, run_id } = step;
  const named = (checkpoint_id: string) => ({
    thread_id,
    checkpoint_ns: "",
    checkpoint_id,
    checkpoint_map: null,
  });
  return {
    checkpoint: named(id),
    parent_checkpoint: parent === null ? null : named(parent),
    metadata: { source, step: step.step, ...(run_id !== null && { run_id }) },
    created_at,
    next,
    tasks,
    interrupts,
    changed_keys: [
      ...new Set(changes.flatMap(({ path: [key] }) => (key === undefined ? [] : [String(key)]))),
    ],
    changed_messages: messagesIn(changes),
  };
}

/** Numbers of messages by state key, from the changes of a step. */
function messagesIn(changes: readonly Change[]): ChangedMessages {
  const found = new Map<string, MessageCounts>();
  /** Places of messages that differ inside. */
  const replaced = new Set<string>();
  for (const { path, ...change } of changes) {
    const [key, place, field] = path;
    if (key === undefined) continue;
    const counts = found.get(String(key)) ?? { added: {}, tool_calls: 0, removed: 0, replaced: 0 };
    if (key === "messages" && (field === "content" || field === "tool_calls")) {
      replaced.add(String(place));
      counts.replaced = replaced.size;
    } else if (field === undefined) {
      const [old, now] = [change.old, change.new].map((side) => [side].flat().filter(isMessage));
      counts.removed += old?.length ?? 0;
      for (const message of now ?? []) addTo(counts, message);
    }
    const { added, removed } = counts;
    if (Object.keys(added).length + removed + counts.replaced > 0) found.set(String(key), counts);
  }
  return Object.fromEntries(found);
}

const TYPES = new Set<unknown>(["ai", "human", "tool", "system", "developer", "function", "generic"]);
/** A stored page does not say which lists are messages: other objects can have a type and a content. */
const isMessage = (value: unknown): value is JsonObject => isMessageLike(value) && TYPES.has(value.type);

function addTo(counts: MessageCounts, { type, tool_calls }: JsonObject): void {
  counts.added[String(type)] = (counts.added[String(type)] ?? 0) + 1;
  if (Array.isArray(tool_calls)) counts.tool_calls += tool_calls.length;
}
