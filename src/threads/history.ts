/** The fields of a history that were asked for, with no more read for them than they need. */
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import type { ServedGraph, Snapshot } from "../graphs/graph.js";
import type { OutputFilter } from "../graphs/output-filter.js";
import { isStateChannel } from "../models/channels.js";
import type { JsonObject } from "../models/common.js";
import type { ThreadStateSearchRequest } from "../models/state.js";
import { type NeededChannels, withReading } from "../storage/saver/saver-parts.js";
import type { Checkpointer } from "../storage/contract/storage.js";

type Select = NonNullable<ThreadStateSearchRequest["select"]>;

/** What has to be read of a checkpoint so that these fields can be told; undefined for all of it. */
export function neededChannels(
  select: Select,
  { nodes = {} }: ServedGraph,
  namespace: string,
): NeededChannels | undefined {
  if (select.includes("values")) return undefined;
  const foretells = ["next", "tasks", "interrupts", "unfinished_step"] as const;
  if (!foretells.some((field) => select.includes(field))) return { own: false, results: false, keys: [] };
  // Which keys of the state trigger a node inside of a graph, only the graph inside knows.
  if (namespace !== "") return undefined;
  const triggers = Object.values(nodes).flatMap((node) => (node as { triggers?: string[] }).triggers ?? []);
  const results = select.includes("tasks") || select.includes("unfinished_step");
  return { own: true, results, keys: triggers.filter(isStateChannel) };
}

/** Tells which keys were written since the checkpoint before, by the versions of their channels. */
export class ChangedKeys {
  readonly #checkpointer: Pick<Checkpointer, "getTuple">;
  readonly #versions = new Map<string, Checkpoint["channel_versions"]>();

  constructor(checkpointer: Pick<Checkpointer, "getTuple">) {
    this.#checkpointer = checkpointer;
  }

  note({ id, channel_versions }: Pick<Checkpoint, "id" | "channel_versions">): void {
    this.#versions.set(id, channel_versions);
  }

  /** Of a checkpoint that was noted; null when the one before it is gone. */
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

/** Each item, when the one after it has been read. */
export async function* oneBehind<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let held: { item: Item } | undefined;
  for await (const item of items) {
    if (held) yield held.item;
    held = { item };
  }
  if (held) yield held.item;
}
