/** One side of a comparison: a file, or a checkpoint of a thread. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isRecord } from "../../models/common.js";
import { parsePath, type PathStep, valueAt } from "../../models/value-path.js";
import { InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";
import type { Session } from "../session/session.js";
import { findCheckpoint } from "../session/find.js";
import { refuseHidden, warnHidden } from "../session/open-client.js";
import type { Client } from "../../client/client.js";

export interface DiffSide {
  /** Label in the output. */
  label: string;
  values: unknown;
}

/**
 * Reads a JSON file that contains values, or a state with values. Undefined if it does not exist and the text may be a
 * thread.
 * @throws InvalidRequestError for invalid JSON, or if the text can only be a file and it does not exist (`invalid_request`)
 */
export async function fileSide({ io }: Session, text: string): Promise<DiffSide | undefined> {
  const file = resolve(io.cwd, text);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) {
    if (!/[\\/]|\.json$/i.test(text)) return undefined;
    throw new InvalidRequestError(`file ${file} does not exist`, undefined, {
      hint: "compare JSON files, or checkpoints such as THREAD@-2 and THREAD",
    });
  }
  try {
    const content = JSON.parse(await readText(file)) as unknown;
    return { label: text, values: isState(content) ? content.values : content };
  } catch (error) {
    throw new InvalidRequestError(`${text} cannot be read as JSON: ${errorMessage(error)}`, undefined, {
      cause: error,
    });
  }
}

function isState(content: unknown): content is { values: unknown } {
  return isRecord(content) && "values" in content && "checkpoint" in content && "next" in content;
}

/** `thread`, `thread@step`, `thread@checkpoint`, `thread@-1`. */
export async function threadSide({ print }: Session, client: Client, text: string): Promise<DiffSide> {
  const { threadId, state } = await findCheckpoint(client, text);
  const thread = await client.threads.get(threadId);
  refuseHidden(client, thread, state);
  warnHidden(print, client, [thread]);
  const checkpoint = state.checkpoint?.checkpoint_id;
  return { label: checkpoint ? `${threadId}@${checkpoint}` : threadId, values: state.values };
}

// Restricts the comparison to a path, and ignores other paths.

/** @throws InvalidRequestError if the path is invalid (`invalid_request`) */
export function parsePathFlag(flag: string, path: string): PathStep[] {
  const steps = parsePath(path);
  if (steps) return steps;
  throw new InvalidRequestError(`${flag} is not a valid path: ${path}`, undefined, {
    hint: `for example ${flag} messages[-1].content`,
  });
}

/** The value at `path` without the ignored paths; null if there is none. */
export function selectPath(
  value: unknown,
  path: readonly PathStep[],
  ignored: readonly PathStep[][],
): unknown {
  const kept = ignored.reduce<unknown>((left, steps) => without(left, steps), value);
  return valueAt(kept, path) ?? null;
}

/** Removes a path; `*` matches every key and item. */
function without(value: unknown, [step, ...rest]: readonly PathStep[]): unknown {
  if (step === undefined) return value;
  const isMeant = (key: PathStep): boolean => step === "*" || step === key;
  if (Array.isArray(value)) {
    const index = typeof step === "number" && step < 0 ? value.length + step : step;
    const items: unknown[] = value;
    return items.flatMap((item, place) => {
      if (index !== "*" && index !== place) return [item];
      return rest.length === 0 ? [] : [without(item, rest)];
    });
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([key]) => rest.length > 0 || !isMeant(key));
  return Object.fromEntries(
    entries.map(([key, inner]) => [key, isMeant(key) ? without(inner, rest) : inner]),
  );
}
