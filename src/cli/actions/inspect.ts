import { printCheckpoint } from "../inspect/checkpoint.js";
import { printInspectedRun, superstepsOf } from "../inspect/run.js";
import { stateValue } from "../inspect/state.js";
import { inspectedThread, printInspectedThread } from "../inspect/thread.js";
import { escapeControl } from "../escape.js";
import type { Session } from "../session.js";
import { findRun, findState, findThreadId } from "../source/find.js";
import { warnHidden } from "../source/hidden.js";
import type { SourceFlags } from "../source/source.js";
import { withSource } from "../source/with-source.js";
import { printJsonWithList } from "../view/json-list.js";

export interface InspectThreadFlags extends SourceFlags {
  values?: boolean;
  full?: boolean;
}

/** `inspect thread`: its card. */
export async function inspectThread(
  session: Session,
  thread: string,
  flags: InspectThreadFlags,
): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const found = await inspectedThread(source, await findThreadId(source, thread));
    warnHidden(print, source, [found.thread]);
    if (print.isJson) print.json(flags.values ? found.thread.values : found);
    else await printInspectedThread(session, source, found, flags);
  });
  return 0;
}

export interface InspectRunFlags extends SourceFlags {
  thread?: string;
}

/** `inspect run`: superstep by superstep. */
export async function inspectRun(session: Session, runId: string, flags: InspectRunFlags): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const { threadId, run } = await findRun(source, runId, flags.thread);
    warnHidden(print, source, [await source.threads.get(threadId)]);
    const supersteps = superstepsOf(source, threadId, run);
    if (print.isJson) await printJsonWithList(print, { run }, "supersteps", supersteps);
    else await printInspectedRun(print, run, supersteps);
  });
  return 0;
}

export interface InspectCheckpointFlags extends SourceFlags {
  ns?: string;
  writes?: boolean;
  full?: boolean;
}

/** `inspect checkpoint`: one checkpoint, the latest when none is named. */
export async function inspectCheckpoint(
  session: Session,
  thread: string,
  checkpoint: string | undefined,
  flags: InspectCheckpointFlags,
): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const threadId = await findThreadId(source, thread);
    const state = await findState(source, threadId, { at: checkpoint, ns: flags.ns });
    warnHidden(print, source, [await source.threads.get(threadId)]);
    if (print.isJson) print.json(state);
    else printCheckpoint(print, state, flags);
  });
  return 0;
}

export interface InspectStateFlags extends SourceFlags {
  ns?: string;
  at?: string;
  path?: string;
}

/** `inspect state`: a value alone, ready for a pipe. */
export async function inspectState(
  session: Session,
  thread: string,
  flags: InspectStateFlags,
): Promise<number> {
  const { print } = session;
  await withSource(session, flags, {}, async (source) => {
    const threadId = await findThreadId(source, thread);
    const { values } = await findState(source, threadId, { at: flags.at, ns: flags.ns });
    warnHidden(print, source, [await source.threads.get(threadId)]);
    const value = stateValue(values, flags.path);
    if (print.isJson || typeof value !== "string") print.json(value);
    else print.data(escapeControl(value));
  });
  return 0;
}
