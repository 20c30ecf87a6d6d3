/** Reads only the channels that the selected fields of a history need. */
import type { Checkpoint, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { countsOf } from "../context/checkpoint-origin.js";
import type { ServedGraph, Snapshot } from "../graphs/graph.js";
import type { OutputFilter } from "../graphs/output-filter.js";
import { isStateChannel } from "../models/channels.js";
import type { JsonObject } from "../models/common.js";
import type { ChangedMessages, SelectedState, ThreadStateSearchRequest } from "../models/state.js";
import { type NeededChannels, NO_CHANNELS, withReading } from "../storage/saver/reading.js";
import type { Checkpointer } from "../storage/contract/checkpointer.js";

type Select = NonNullable<ThreadStateSearchRequest["select"]>;

/** The channels to read for the selected fields; undefined to read all channels. */
export function neededChannels(
  select: Select,
  { nodes = {} }: ServedGraph,
  namespace: string,
): NeededChannels | undefined {
  if (select.includes("values")) return undefined;
  const needTriggers = ["next", "tasks", "interrupts", "unfinished_step"] as const;
  if (!needTriggers.some((field) => select.includes(field))) return NO_CHANNELS;
  // The triggers of a subgraph's nodes are not known here.
  if (namespace !== "") return undefined;
  const triggers = Object.values(nodes).flatMap((node) => (node as { triggers?: string[] }).triggers ?? []);
  const results = select.includes("tasks") || select.includes("unfinished_step");
  return { own: true, results, keys: triggers.filter(isStateChannel) };
}

/**
 * Finds what a checkpoint changed: keys, by comparing channel versions with its parent's, and the numbers of messages that
 * were stored with it.
 */
export class StepChanges {
  readonly #checkpointer: Pick<Checkpointer, "getTuple">;
  readonly #select: Select;
  readonly #versions = new Map<string, Checkpoint["channel_versions"]>();
  readonly #messages = new Map<string, ChangedMessages>();

  constructor(checkpointer: Pick<Checkpointer, "getTuple">, select: Select) {
    this.#checkpointer = checkpointer;
    this.#select = select;
  }

  note({ checkpoint: { id, channel_versions }, metadata }: CheckpointTuple): void {
    this.#versions.set(id, channel_versions);
    const counts = countsOf(metadata);
    if (counts) this.#messages.set(id, counts);
  }

  /** The selected changes of a checkpoint passed to `note`. */
  async of(snapshot: Snapshot, filter: OutputFilter): Promise<SelectedState> {
    return {
      ...(this.#select.includes("changed_keys") && { changed_keys: await this.#keysOf(snapshot, filter) }),
      ...(this.#select.includes("changed_messages") && {
        changed_messages: this.#messagesOf(snapshot, filter),
      }),
    };
  }

  /** The counts of a copied checkpoint, or one whose parent was deleted, are not those of its first step here. */
  #messagesOf({ config, parentConfig, metadata }: Snapshot, filter: OutputFilter): ChangedMessages {
    const isFirst = ["input", "update"].includes(String(metadata?.source));
    if (!parentConfig && !isFirst) return {};
    const counts = this.#messages.get(idOf(config.configurable)) ?? {};
    return Object.fromEntries(Object.entries(counts).filter(([key]) => filter.shows(key)));
  }

  /** Null if the parent was deleted. */
  async #keysOf({ config, parentConfig }: Snapshot, filter: OutputFilter): Promise<string[] | null> {
    const now = this.#versions.get(idOf(config.configurable)) ?? {};
    const before = parentConfig ? await this.#versionsAt(parentConfig.configurable ?? {}) : {};
    if (!before) return null;
    return Object.keys(now)
      .filter((key) => isStateChannel(key) && filter.shows(key) && now[key] !== before[key])
      .sort();
  }

  async #versionsAt(configurable: JsonObject): Promise<Checkpoint["channel_versions"] | undefined> {
    const known = this.#versions.get(idOf(configurable));
    if (known) return known;
    const parent = await this.#checkpointer.getTuple({
      configurable: withReading(configurable, { channels: NO_CHANNELS }),
    });
    if (parent) this.note(parent);
    return parent?.checkpoint.channel_versions;
  }
}

const idOf = (configurable: JsonObject | undefined): string => String(configurable?.checkpoint_id);

/** Yields each item only after the next one has been read. */
export async function* oneBehind<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let held: { item: Item } | undefined;
  for await (const item of items) {
    if (held) yield held.item;
    held = { item };
  }
  if (held) yield held.item;
}
