/** Writes a thread as one JSON document, a checkpoint at a time. */
import type { ThreadState } from "../../models/state.js";
import { THREAD_FILE_FORMAT, THREAD_FILE_VERSION } from "../../models/thread-file.js";
import { escapeControl } from "../../view/text.js";
import type { Source } from "../source/source.js";
import { walkOldestFirst, walkRuns } from "../source/walk.js";
import { type Paths, redactRun, redactState, redactStored, redactThread } from "./redact.js";

/** The same thread gives the same text. @throws NotFoundError (`thread_not_found`) */
export async function* threadText(source: Source, threadId: string, paths: Paths): AsyncGenerator<string> {
  const thread = await source.threads.get(threadId);
  const head = {
    format: THREAD_FILE_FORMAT,
    version: THREAD_FILE_VERSION,
    thread: redactThread(thread, paths),
  };
  yield textOf(head).slice(0, -1);
  yield* list("runs", walkRuns(source, threadId), (run) => redactRun(run, paths));
  const namespaces = new Set<string>();
  const states = withNamespaces(walkOldestFirst(source, threadId, ""), namespaces);
  yield* list("states", states, (state) => redactState(state, paths));
  const nested = nestedStates(source, threadId, namespaces);
  yield* list("subgraphs", nested, (state) => redactState(state, paths));
  if (source.stored)
    yield* list("checkpoints", source.stored(threadId), (stored) => redactStored(stored, paths));
  yield "}\n";
}

async function* list<T>(
  name: string,
  items: AsyncIterable<T>,
  shown: (item: T) => object,
): AsyncGenerator<string> {
  yield `,\n"${name}": [`;
  let before = "\n";
  for await (const item of items) {
    yield before + textOf(shown(item));
    before = ",\n";
  }
  yield "\n]";
}

/** Notes the namespaces of the subgraphs that the tasks of these states ran. */
async function* withNamespaces(
  states: AsyncIterable<ThreadState>,
  found: Set<string>,
): AsyncGenerator<ThreadState> {
  for await (const state of states) {
    for (const { checkpoint } of state.tasks)
      if (checkpoint?.checkpoint_ns) found.add(checkpoint.checkpoint_ns);
    yield state;
  }
}

async function* nestedStates(
  source: Source,
  threadId: string,
  namespaces: ReadonlySet<string>,
): AsyncGenerator<ThreadState> {
  for (const ns of [...namespaces].sort()) {
    const below = new Set<string>();
    yield* withNamespaces(walkOldestFirst(source, threadId, ns), below);
    yield* nestedStates(source, threadId, below);
  }
}

/** On one line; control characters stand in texts only, where their escapes mean the same. */
const textOf = (value: object): string => escapeControl(JSON.stringify(value));
