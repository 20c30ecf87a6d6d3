/**
 * Stores the model calls of runs that have not ended, so that they are counted if the process is killed. The calls of
 * all runs are stored together, and a run that ends within `DELAY_MS` of a call stores it with its end instead.
 */
import type { UsageRow, UsageTable } from "../storage/contract/usage.js";
import type { Logger } from "../support/log.js";

/** The model calls of one attempt of a run. */
export interface UsageSource {
  /** Undefined if no model was called. */
  rows(): readonly UsageRow[] | undefined;
}

/** How long a call may stay unstored, in milliseconds. */
const DELAY_MS = 20;
/** Delay after the storage has failed, in milliseconds. */
const RETRY_MS = 5_000;

export class UsageRecorder {
  readonly #table: Pick<UsageTable, "store">;
  readonly #logger: Logger;
  readonly #changed = new Set<UsageSource>();
  readonly #listeners = new Set<(scope: string | null) => void>();
  #timer: NodeJS.Timeout | undefined;
  /** The statement in flight, and the sources whose rows it stores. */
  #current: { sources: ReadonlySet<UsageSource>; stored: Promise<void> } | undefined;
  /** The statement after it. */
  #next: Promise<void> | undefined;

  constructor(table: Pick<UsageTable, "store">, logger: Logger) {
    this.#table = table;
    this.#logger = logger;
  }

  /** Called when a model call of the source has ended. */
  changed(source: UsageSource): void {
    this.#changed.add(source);
    this.#schedule(DELAY_MS);
    // Rows are made only for listeners.
    if (this.#listeners.size === 0) return;
    const scope = source.rows()?.[0]?.scope ?? null;
    for (const listener of this.#listeners) listener(scope);
  }

  /** Calls the listener with the scope of the user after each model call. Returns a function that stops it. */
  listen(listener: (scope: string | null) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Stores the calls of the source so far. Rejects if the storage fails. */
  store(source: UsageSource): Promise<void> {
    this.#changed.add(source);
    return this.#write();
  }

  /**
   * Called before a run stores its calls with its end: no older rows may be written after that. Undefined if none are
   * being written. Never rejects.
   */
  leave(source: UsageSource): Promise<void> | undefined {
    this.#changed.delete(source);
    if (this.#timer !== undefined && this.#changed.size === 0) this.#stopTimer();
    return this.#current?.sources.has(source) ? this.#current.stored.catch(() => undefined) : undefined;
  }

  /** Stores the remaining calls: those that ended after their run. Never rejects. */
  async close(): Promise<void> {
    if (this.#changed.size > 0) await this.#write().catch((error: unknown) => this.#report(error));
    this.#stopTimer();
  }

  #schedule(ms: number): void {
    this.#timer ??= setTimeout(
      () => void this.#write().catch((error: unknown) => this.#report(error)),
      ms,
    ).unref();
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #report(error: unknown): void {
    this.#logger.warn({ err: error }, "model calls could not be stored yet");
  }

  /** One statement at a time: callers who wait for the current one share the next. */
  #write(): Promise<void> {
    return (this.#next ??= this.#writeNext());
  }

  async #writeNext(): Promise<void> {
    await this.#current?.stored.catch(() => undefined);
    const sources = new Set(this.#changed);
    this.#changed.clear();
    this.#stopTimer();
    const stored = this.#storeRows(sources);
    this.#current = { sources, stored };
    this.#next = undefined;
    await stored;
  }

  async #storeRows(sources: ReadonlySet<UsageSource>): Promise<void> {
    const rows = [...sources].flatMap((source) => source.rows() ?? []);
    try {
      if (rows.length > 0) await this.#table.store(rows);
    } catch (error) {
      for (const source of sources) this.#changed.add(source);
      this.#schedule(RETRY_MS);
      throw error;
    } finally {
      this.#current = undefined;
    }
  }
}
