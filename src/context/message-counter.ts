/**
 * Counts the messages that each checkpoint of a run or an edit adds, removes and replaces. The counts are stored in the
 * metadata of the checkpoint, so that lists of steps do not read states.
 */
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { isMessage, type MessageLike } from "../graphs/serialize.js";
import { isStateChannel } from "../models/channels.js";
import { isRecord } from "../models/common.js";
import type { ChangedMessages, MessageCounts } from "../models/state.js";
import { tryOr } from "../support/errors/thrown.js";

/** Lists of messages by state key. */
type Lists = ReadonlyMap<string, readonly unknown[]>;

interface Known {
  id: string | undefined;
  lists: Lists;
}

/** Namespaces whose latest lists are kept: a run can have thousands of subgraphs. */
const MOST_NAMESPACES = 32;

export class MessageCounter {
  /** By namespace, the one that was used last at the end. */
  readonly #known = new Map<string, Known>();

  /**
   * Records the checkpoint that the next one is compared with; undefined if there is none. Never throws.
   * @returns its lists of messages
   */
  note(namespace: string, checkpoint: Checkpoint | undefined): Lists {
    const lists = new Map<string, readonly unknown[]>();
    try {
      for (const [key, value] of Object.entries(checkpoint?.channel_values ?? {}))
        if (isStateChannel(key) && Array.isArray(value) && isMessage(value.at(-1)))
          lists.set(key, value as unknown[]);
    } catch {
      // A value of a graph can throw when it is read.
      lists.clear();
    }
    this.#known.delete(namespace);
    this.#known.set(namespace, { id: checkpoint?.id, lists });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_NAMESPACES && oldest !== undefined) this.#known.delete(oldest);
    return lists;
  }

  /**
   * The changes since the parent, and records the checkpoint. Undefined if there are none, or the parent is unknown. Never
   * throws.
   */
  next(namespace: string, parentId: unknown, checkpoint: Checkpoint): ChangedMessages | undefined {
    const before = this.#known.get(namespace);
    const now = this.note(namespace, checkpoint);
    if (!before || (before.id ?? "") !== (parentId ?? "")) return undefined;
    return before.lists.size + now.size === 0 ? undefined : tryOr(() => changesOf(before.lists, now));
  }
}

function changesOf(before: Lists, now: Lists): ChangedMessages | undefined {
  const changes: ChangedMessages = {};
  for (const key of new Set([...before.keys(), ...now.keys()])) {
    const counts = countsOf(before.get(key) ?? [], now.get(key) ?? []);
    if (counts) changes[key] = counts;
  }
  return Object.keys(changes).length > 0 ? changes : undefined;
}

/** Undefined if the lists have the same messages. Reducers keep the objects of unchanged messages. */
function countsOf(before: readonly unknown[], after: readonly unknown[]): MessageCounts | undefined {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  if (start === before.length && start === after.length) return undefined;
  const old = before.slice(start).filter(isMessage);
  const same = new Set<unknown>(old);
  const byId = new Map(old.filter(({ id }) => id != null).map((message) => [message.id, message]));
  const added = new Map<string, number>();
  const counts = { tool_calls: 0, removed: 0, replaced: 0 };
  let kept = 0;
  for (const message of after.slice(start).filter(isMessage)) {
    const previous = same.has(message) ? message : byId.get(message.id);
    if (previous) {
      kept += 1;
      if (previous !== message && !isEqual(previous, message)) counts.replaced += 1;
    } else {
      added.set(message.type, (added.get(message.type) ?? 0) + 1);
      counts.tool_calls += callsOf(message).length;
    }
  }
  counts.removed = Math.max(0, old.length - kept);
  const isUnchanged = counts.removed + counts.replaced + added.size === 0;
  return isUnchanged ? undefined : { added: Object.fromEntries(added), ...counts };
}

function callsOf(message: MessageLike): readonly unknown[] {
  const { tool_calls } = message;
  return Array.isArray(tool_calls) ? tool_calls : [];
}

function isEqual(one: MessageLike, other: MessageLike): boolean {
  if (one.type !== other.type) return false;
  const contents = [one.content, other.content];
  if (contents.every((content) => typeof content === "string") && one.content !== other.content) return false;
  return JSON.stringify([one.content, callsOf(one)]) === JSON.stringify([other.content, callsOf(other)]);
}

/** The counts in the metadata of a checkpoint, which can come from an imported file. */
export function storedCounts(stored: unknown): ChangedMessages {
  const changes: ChangedMessages = {};
  for (const [key, counts] of Object.entries(isRecord(stored) ? stored : {})) {
    const { added, tool_calls, removed, replaced } = isRecord(counts) ? counts : {};
    const numbers = [
      tool_calls,
      removed,
      replaced,
      ...(isRecord(added) ? Object.values(added) : [undefined]),
    ];
    if (numbers.every((number) => Number.isSafeInteger(number)) && isStateChannel(key))
      changes[key] = { added, tool_calls, removed, replaced } as MessageCounts;
  }
  return changes;
}
