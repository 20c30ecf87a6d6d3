/** The other forms of a run's row: the run for clients, and the row with its JSON values as text. */
import type { JsonObject } from "../../models/common.js";
import type { Run, TokenUsage } from "../../models/run.js";
import type { RunFault } from "../../support/run-fault.js";
import { maskSecrets } from "../../support/secrets.js";
import type { Resumption, RunRow } from "../contract/runs.js";

/** The run for clients, without internal fields. Of an error only the message is included. */
export function runModel({
  state: _1,
  owner: _2,
  fault: _3,
  tasks: _4,
  resumption: _5,
  ...run
}: RunRow): Run {
  return { ...run, kwargs: maskedKwargs(run.kwargs) };
}

/** Masks secrets in the kwargs of a row, which may come from a file or an earlier release. */
export function maskedKwargs({ config, context, ...others }: JsonObject): JsonObject {
  return {
    ...others,
    ...(config !== undefined && { config: maskSecrets(config) }),
    ...(context !== undefined && { context: maskSecrets(context) }),
  };
}

/** The JSON values of a run as SQLite and MongoDB store them. Rows of earlier releases lack the optional ones. */
interface RunTexts {
  metadata: string;
  kwargs: string;
  usage: string | null;
  fault?: string | null;
  resumption?: string | null;
  /** Read only by `RunTable.tasks`. */
  tasks?: string | null;
}

export type TextRun = Omit<RunRow, keyof RunTexts> & RunTexts;

export const toTextRun = (row: RunRow, toText: (value: unknown) => string = JSON.stringify): TextRun => ({
  ...row,
  metadata: toText(row.metadata),
  kwargs: toText(row.kwargs),
  usage: row.usage && toText(row.usage),
  fault: row.fault ? toText(row.fault) : null,
  resumption: row.resumption ? toText(row.resumption) : null,
  tasks: row.tasks ? toText(row.tasks) : null,
});

export const fromTextRun = ({ tasks: _, ...stored }: TextRun): RunRow => ({
  ...stored,
  metadata: JSON.parse(stored.metadata) as JsonObject,
  kwargs: JSON.parse(stored.kwargs) as JsonObject,
  usage: stored.usage === null ? null : (JSON.parse(stored.usage) as TokenUsage),
  fault: stored.fault == null ? null : (JSON.parse(stored.fault) as RunFault),
  resumption: stored.resumption == null ? null : (JSON.parse(stored.resumption) as Resumption),
});
