/** Reads only the channels that the selected fields of a history need. */
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import type { ServedGraph, Snapshot } from "../graphs/graph.js";
import type { OutputFilter } from "../graphs/output-filter.js";
import { isStateChannel } from "../models/channels.js";
import type { JsonObject } from "../models/common.js";
import type { ThreadStateSearchRequest } from "../models/state.js";
import { type NeededChannels, withReading } from "../storage/saver/saver-parts.js";
import type { Checkpointer } from "../storage/contract/storage.js";

type Select = NonNullable<ThreadStateSearchRequest["select"]>;

/** The channels to read for the selected fields; undefined to read all channels. */
export function neededChannels(
  select: Select,
  { nodes = {} }: ServedGraph,
  namespace: string,
): NeededChannels | undefined {
  if (select.includes("values")) return undefined;
  const needTriggers = ["next", "tasks", "interrupts", "unfinished_step"] as const;
  if (!needTriggers.some((field) => select.includes(field))) return { own: false, results: false, keys: [] };
  // The triggers of a subgraph's nodes are not known here.
  if (namespace !== "") return undefined;
  const triggers = Object.values(nodes).flatMap((node) => (node as { triggers?: string[] }).triggers ?? []);
  const results = select.includes("tasks") || select.includes("unfinished_step");
  return { own: true, results, keys: triggers.filter(isStateChannel) };
}

/** Finds the keys that a checkpoint changed, by comparing channel versions with its parent's. */
export class ChangedKeys {
  readonly #checkpointer: Pick<Checkpointer, "getTuple">;
  readonly #versions = new Map<string, Checkpoint["channel_versions"]>();

  constructor(checkpointer: Pick<Checkpointer, "getTuple">) {
    this.#checkpointer = checkpointer;
  }

  note({ id, channel_versions }: Pick<Checkpoint, "id" | "channel_versions">): void {
    this.#versions.set(id, channel_versions);
  }

  /** Changed keys of a checkpoint passed to `note`; null if its parent was deleted. */
  async of({ config, parentConfig }: Snapshot, filter: OutputFilter): Promise<string[] | null> {
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
    const channels = { own: false, results: false, keys: [] };
    const parent = await this.#checkpointer.getTuple({
      configurable: withReading(configurable, { channels }),
    });
    if (parent) this.note(parent.checkpoint);
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
