/** Snapshots: outcomes of runs without values that differ in every run, in a file next to the case file. */
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { readIfExists } from "../support/read-text.js";
import type { JsonObject } from "../models/common.js";
import type { TokenUsage } from "../models/run.js";
import type { Seen } from "./expectations.js";
import type { Redact } from "./cases/redact.js";
import { firstDifference, sorted, normalized } from "./cases/normalized.js";
import { mismatch, type Mismatch } from "./cases/result.js";

/**
 * What to do with snapshots: `write` missing ones, also `update` those that differ, or only `check`,
 * which fails for a missing one.
 * @example
 * ```ts
 * import { runCases, type SnapshotPolicy } from "graph-serve/testing";
 *
 * const snapshots: SnapshotPolicy = process.env.CI ? "check" : "write";
 * const { cases } = await runCases({ cwd: import.meta.dirname, snapshots });
 * cases.length; // => 1
 * ```
 */
export type SnapshotPolicy = "write" | "update" | "check";

type Snapshots = Record<string, Record<string, unknown>>;

/** The snapshots of one case file. */
export class SnapshotFile {
  readonly #path: string;
  readonly #policy: SnapshotPolicy;
  readonly #redact: Redact;
  readonly #before: Snapshots;
  readonly #now: Snapshots;

  private constructor(path: string, policy: SnapshotPolicy, redact: Redact, snapshots: Snapshots) {
    this.#path = path;
    this.#policy = policy;
    this.#redact = redact;
    this.#before = snapshots;
    this.#now = structuredClone(snapshots);
  }

  /** @throws ConfigError if the file is malformed (`config_invalid`) */
  static async open(caseFile: string, policy: SnapshotPolicy, redact: Redact): Promise<SnapshotFile> {
    const path = `${caseFile}.snap`;
    return new SnapshotFile(path, policy, redact, await readSnapshots(path));
  }

  /** Compares a step's run with its snapshot, or stores it as the snapshot, depending on the policy. */
  compare(name: string, step: number, seen: Seen): Mismatch[] {
    const actual = this.#redact(snapshotOf(seen));
    const key = `step ${step}`;
    const expected = this.#before[name]?.[key];
    if (expected === undefined && this.#policy === "check") {
      return [mismatch(["snapshot"], "the snapshot is missing, and --ci does not write it", { actual })];
    }
    if (expected === undefined || this.#policy === "update") {
      (this.#now[name] ??= {})[key] = actual;
      return [];
    }
    const difference = firstDifference(expected, actual, []);
    if (!difference) return [];
    const { path, ...values } = difference;
    const message = `the snapshot differs at ${path.join(".") || "the top level"}; -u accepts it`;
    return [mismatch(["snapshot"], message, values)];
  }

  /** Writes new snapshots; with `update`, also removes snapshots of deleted cases. Returns whether the file changed. */
  async save(caseNames: readonly string[]): Promise<boolean> {
    const kept = Object.entries(this.#now).filter(
      ([name]) => this.#policy !== "update" || caseNames.includes(name),
    );
    const next = Object.fromEntries(kept);
    if (isDeepStrictEqual(next, this.#before)) return false;
    await writeFile(this.#path, `${JSON.stringify(sorted(next), null, 2)}\n`);
    return true;
  }
}

async function readSnapshots(path: string): Promise<Snapshots> {
  try {
    return JSON.parse((await readIfExists(path)) ?? "{}") as Snapshots;
  } catch (error) {
    throw new ConfigError(`${basename(path)} cannot be read: ${errorMessage(error)}`, {
      hint: "delete it and run the cases once to recreate it",
      location: { file: path },
      cause: error,
    });
  }
}

/** The content of a snapshot. */
function snapshotOf({ run, values, edges }: Seen): JsonObject {
  const { status, nodes, error, counts } = run;
  const { source: _, ...usage } = run.usage ?? ({} as Partial<TokenUsage>);
  const interrupts = run.interrupts.map(({ value }) => value);
  return sorted(
    normalized({
      status,
      values,
      nodes,
      edges,
      ...(run.usage && { usage }),
      events: counts,
      interrupts,
      ...(error !== undefined && { error }),
    }),
  ) as JsonObject;
}
