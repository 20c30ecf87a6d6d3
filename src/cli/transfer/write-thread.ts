/** Writes a thread as one JSON document, a checkpoint at a time. */
import type { ThreadState } from "../../models/state.js";
import { THREAD_FILE_FORMAT, THREAD_FILE_VERSION } from "../../models/thread-file.js";
import { escapeControl } from "../escape.js";
import type { Source } from "../source/source.js";
import { walkRuns, walkStates } from "../source/walk.js";
import { redactRun, redactState, redactThread, type Paths } from "./redact.js";

/** @throws NotFoundError (`thread_not_found`) */
export async function* threadText(source: Source, threadId: string, paths: Paths): AsyncGenerator<string> {
  const thread = await source.threads.get(threadId);
  const head = {
    format: THREAD_FILE_FORMAT,
    version: THREAD_FILE_VERSION,
    exported_at: new Date().toISOString(),
    thread: redactThread(thread, paths),
  };
  yield `${textOf(head).slice(0, -1)},\n"runs": [`;
  let before = "\n";
  for await (const run of walkRuns(source, threadId)) {
    yield before + textOf(redactRun(run, paths));
    before = ",\n";
  }
  yield '\n],\n"states": [';
  before = "\n";
  for await (const state of oldestFirst(source, threadId)) {
    yield before + textOf(redactState(state, paths));
    before = ",\n";
  }
  yield "\n]}\n";
}

/** Ids are kept, states are read again one by one: memory holds one of them. */
async function* oldestFirst(source: Source, threadId: string): AsyncGenerator<ThreadState> {
  const selectors: ThreadState["checkpoint"][] = [];
  for await (const { checkpoint } of walkStates(source, threadId)) selectors.push(checkpoint);
  for (const checkpoint of selectors.reverse())
    yield await source.state.get(threadId, { checkpoint: checkpoint ?? undefined });
}

/** On one line; control characters stand in texts only, where their escapes mean the same. */
const textOf = (value: object): string => escapeControl(JSON.stringify(value));
