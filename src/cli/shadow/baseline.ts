/** Differences that are wanted: written with `--accept`, and not counted with `--baseline`. */
import { writeFile } from "node:fs/promises";
import { isRecord, type JsonObject } from "../../models/common.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";
import type { ShadowResult } from "../../testing/shadow/shadow.js";

const FORMAT = "graph-serve/shadow-baseline";
const VERSION = 1;

/** A kind of difference: without ids, and without words, which differ from run to run. */
interface AcceptedDifference {
  graph: string | null;
  outcome: string;
  place: string;
  before?: string;
  now?: string;
}

/** Undefined for results that cannot be accepted, such as one that is not known because a call was refused. */
function kindOf({ graph_id, outcome, difference }: ShadowResult): AcceptedDifference | undefined {
  if (!difference || outcome === "unstable") return undefined;
  const { place, before, now } = difference;
  const isCounted = outcome !== "words" && outcome !== "cost";
  return { graph: graph_id, outcome, place, ...(isCounted && { before, now }) };
}

const keyOf = (kind: AcceptedDifference): string =>
  JSON.stringify([kind.graph, kind.outcome, kind.place, kind.before, kind.now]);

export class Baseline {
  readonly #known: ReadonlySet<string>;
  readonly #found = new Map<string, AcceptedDifference>();

  private constructor(known: readonly AcceptedDifference[]) {
    this.#known = new Set(known.map(keyOf));
  }

  /** @param file undefined if nothing is accepted. @throws ConfigError if it cannot be read (`config_invalid`) */
  static async read(file: string | undefined): Promise<Baseline> {
    return new Baseline(file === undefined ? [] : await readDifferences(file));
  }

  /** Whether the difference is listed. */
  accepts(result: ShadowResult): boolean {
    const kind = kindOf(result);
    if (!kind) return false;
    this.#found.set(keyOf(kind), kind);
    return this.#known.has(keyOf(kind));
  }

  /** Writes the differences of all results so far, in a stable order; returns their number. */
  async write(file: string): Promise<number> {
    const differences = [...this.#found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
    const content = { format: FORMAT, version: VERSION, differences };
    await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
    return differences.length;
  }
}

async function readDifferences(file: string): Promise<AcceptedDifference[]> {
  const hint = "write it with graph-serve shadow --accept FILE";
  let content: unknown;
  try {
    content = JSON.parse(await readText(file));
  } catch (error) {
    throw new ConfigError(`the baseline cannot be read: ${errorMessage(error)}`, {
      ...{ location: { file }, hint, cause: error },
    });
  }
  const { format, version, differences } = isRecord(content) ? content : ({} as JsonObject);
  if (format === FORMAT && version === VERSION && Array.isArray(differences) && differences.every(isRecord))
    return differences as unknown as AcceptedDifference[];
  throw new ConfigError("the file is not a baseline of this version", { location: { file }, hint });
}
