/**
 * Ids of spans. Those of a run are derived from its id and attempt, and from the place of the task in it, so that a
 * backend which identifies spans by their ids stores a run once, also if it is exported live and from the storage.
 */
import { hash } from "node:crypto";
import type { IdGenerator } from "@opentelemetry/sdk-trace-base";

/** The key of a run's span; those of its tasks begin with it. */
export const runKey = (runId: string, attempt: number): string => `${runId}:${attempt}`;

const UUID_LENGTH = 36;

export class SpanIds implements IdGenerator {
  readonly #others: IdGenerator;
  #key: string | undefined;

  /** @param others generates the ids of spans without a key */
  constructor(others: IdGenerator) {
    this.#others = others;
  }

  /** Calls `start`, which starts the span of `key`. */
  derived<T>(key: string, start: () => T): T {
    this.#key = key;
    try {
      return start();
    } finally {
      this.#key = undefined;
    }
  }

  /** For a run that was not started within a trace. */
  generateTraceId = (): string =>
    this.#key === undefined
      ? this.#others.generateTraceId()
      : this.#key.slice(0, UUID_LENGTH).replaceAll("-", "");

  generateSpanId = (): string =>
    this.#key === undefined ? this.#others.generateSpanId() : hash("sha256", this.#key, "hex").slice(0, 16);
}
