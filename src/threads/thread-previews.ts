/** Previews of threads as clients may see them, read from their rows alone (docs/specification.md#threads). */
import type { OutputFilter } from "../graphs/output-filter.js";
import { DROP_ALL } from "../graphs/output-filter.js";
import { visiblePreview } from "../graphs/thread-preview.js";
import type { ThreadPreview } from "../models/thread.js";
import type { ThreadRow } from "../storage/contract/storage.js";
import type { OpsContext } from "../context/context.js";
import { configOf } from "./thread-state.js";

/**
 * The previews of one page. What was visible when a preview was stored may be hidden now, so every read applies the
 * current filter of all graphs that have written to the thread. Threads of the same graphs share it.
 */
export class Previews {
  readonly #context: OpsContext;
  readonly #filters = new Map<string, Promise<OutputFilter>>();

  constructor(context: OpsContext) {
    this.#context = context;
  }

  async of(row: ThreadRow): Promise<ThreadPreview | null> {
    return row.preview ? visiblePreview(row.preview, await this.#filterOf(row)) : null;
  }

  #filterOf(row: ThreadRow): Promise<OutputFilter> {
    const key = JSON.stringify([row.metadata.graph_id, row.graphs, row.config.configurable]);
    const known = this.#filters.get(key) ?? this.#filter(row);
    this.#filters.set(key, known);
    return known;
  }

  async #filter(row: ThreadRow): Promise<OutputFilter> {
    const { registry, logger } = this.#context;
    const config = configOf(this.#context, row);
    try {
      const bound = await registry.reader(registry.graphIdOf(row.metadata), config);
      return await registry.filterAmong(bound, row.graphs, config);
    } catch (error) {
      logger.error({ err: error, thread_id: row.thread_id }, "the thread's preview cannot be shown");
      return DROP_ALL;
    }
  }
}
