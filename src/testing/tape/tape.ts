/** The calls of one case: recorded as they happen, or answered from the recording. */
import { basename } from "node:path";
import { errorMessage, errorName } from "../../errors.js";
import type { JsonObject } from "../../models/common.js";
import { firstDifference, steady } from "../steady.js";
import { unmet, type Unmet } from "../unmet.js";
import { askedKey } from "./asked.js";
import type { Answer, CallKind, TapeEntry } from "./entry.js";
import type { Redact } from "../redact.js";

/** A call that the recording has no answer to; it ends the run, as a model that cannot be reached would. */
export class NotRecordedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "NotRecordedError";
  }
}

export interface TapeOptions {
  caseName: string;
  /** The recording, for messages; undefined when the case file names none. */
  file?: string;
  redact: Redact;
}

/** Takes what really happens, and hands it on without secrets. */
export class RecordingTape {
  readonly mode = "record";
  readonly #options: TapeOptions;
  readonly #keep: (entry: TapeEntry) => void;

  constructor(options: TapeOptions, keep: (entry: TapeEntry) => void) {
    this.#options = options;
    this.#keep = keep;
  }

  add(kind: CallKind, name: string, asked: JsonObject, answer: Answer): void {
    const { caseName, redact } = this.#options;
    this.#keep(redact({ case: caseName, kind, name, asked, answer }));
  }

  addError(kind: CallKind, name: string, asked: JsonObject, error: unknown): void {
    this.add(kind, name, asked, { error: { name: errorName(error), message: errorMessage(error) } });
  }

  end(): Unmet[] {
    return [];
  }
}

/**
 * Answers each call with what was recorded for the same question; the same question asked twice gets its answers in
 * their order. So branches that run side by side may ask in any order.
 */
export class ReplayTape {
  readonly mode = "replay";
  readonly #options: TapeOptions;
  readonly #left: TapeEntry[];
  readonly #isRecorded: boolean;
  #divergence: Unmet | undefined;
  #calls: Record<CallKind, number> = { model: 0, tool: 0 };

  constructor(entries: readonly TapeEntry[] | undefined, options: TapeOptions) {
    this.#options = options;
    this.#isRecorded = entries !== undefined;
    this.#left = (entries ?? []).filter((entry) => entry.case === options.caseName);
  }

  /** @throws NotRecordedError */
  answer(kind: CallKind, name: string, asked: JsonObject): Answer {
    this.#calls[kind] += 1;
    const question = this.#options.redact(asked);
    const key = askedKey(name, question);
    const index = this.#left.findIndex(
      (entry) => entry.kind === kind && askedKey(entry.name, entry.asked) === key,
    );
    const [found] = index < 0 ? [] : this.#left.splice(index, 1);
    if (found) return found.answer;
    const divergence = this.#diverged(kind, name, question);
    this.#divergence ??= divergence;
    throw new NotRecordedError(divergence.message);
  }

  /** The first call that went another way than the recording; else, in a run that is fine, calls that were not made. */
  end(isFine: boolean): Unmet[] {
    if (this.#divergence) return [this.#divergence];
    const calls = this.#left;
    const [first] = calls;
    if (!first || !isFine) return [];
    const message = `${calls.length} recorded ${calls.length === 1 ? "call was" : "calls were"} not made, the first of ${first.name}${this.#placeOf(first)}`;
    return [mock(message, { expected: first.asked })];
  }

  #diverged(kind: CallKind, name: string, asked: JsonObject): Unmet {
    const number = `${kind} call ${this.#calls[kind]} (${name})`;
    const { file, caseName } = this.#options;
    if (file === undefined)
      return mock(`${number} is not recorded: the case file names no mock`, { actual: asked });
    if (!this.#isRecorded)
      return mock(`${number} is not recorded: there is no ${basename(file)}; make it with --record`, {
        actual: asked,
      });
    const next =
      this.#left.find((entry) => entry.kind === kind && entry.name === name) ??
      this.#left.find((entry) => entry.kind === kind);
    if (!next) {
      const why = `nothing more is recorded of "${caseName}" in ${basename(file)}`;
      return mock(`${number} is not recorded: ${why}`, { actual: asked });
    }
    const difference = firstDifference(
      steady({ name: next.name, ...next.asked }),
      steady({ name, ...asked }),
      [],
    );
    const { path = [], expected, actual } = difference ?? {};
    return mock(`${number} asks something else than recorded, at ${path.join(".")}${this.#placeOf(next)}`, {
      expected,
      actual,
    });
  }

  #placeOf({ line }: TapeEntry): string {
    const { file } = this.#options;
    return file === undefined || line === undefined ? "" : `, ${basename(file)}:${line}`;
  }
}

const mock = (message: string, values: { expected?: unknown; actual?: unknown }): Unmet => ({
  ...unmet([], message, values),
  expectation: "mock",
});

export type Tape = RecordingTape | ReplayTape;
