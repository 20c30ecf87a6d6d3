/** One side of a difference: a file, or a checkpoint of a thread. */
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { errorMessage, InvalidRequestError } from "../../errors.js";
import { isRecord } from "../../models/common.js";
import type { Session } from "../session.js";
import { findState, findThreadId } from "../source/find.js";
import { warnHidden } from "../source/hidden.js";
import type { Source } from "../source/source.js";

export interface Side {
  /** What it is called in the result. */
  label: string;
  values: unknown;
}

/** A file of JSON: values, or a state with values. Undefined when there is no such file. */
export async function fileSide({ io }: Session, text: string): Promise<Side | undefined> {
  const file = resolve(io.cwd, text);
  const found = await stat(file).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  try {
    const content = JSON.parse(await readFile(file, "utf8")) as unknown;
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
export async function threadSide({ print }: Session, source: Source, text: string): Promise<Side> {
  const [thread = "", at] = text.split("@", 2);
  const threadId = await findThreadId(source, thread);
  const state = await findState(source, threadId, { at });
  warnHidden(print, source, [await source.threads.get(threadId)]);
  const checkpoint = state.checkpoint?.checkpoint_id;
  return { label: checkpoint ? `${threadId}@${checkpoint}` : threadId, values: state.values };
}
