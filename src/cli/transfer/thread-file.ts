/** Reads and writes threads as JSON documents. */
import type { ThreadState } from "../../models/state.js";
import {
  THREAD_FILE_FORMAT,
  THREAD_FILE_VERSION,
  type ThreadFile,
  threadFileFault,
} from "../../models/thread-file.js";
import { escapeControl } from "../../view/text.js";
import type { Client } from "../../client/client.js";
import { walkOldestFirst, walkRuns } from "../../client/walk.js";
import { type Paths, redactRun, redactState, redactStored, redactThread } from "./redact.js";
import { InvalidRequestError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { readText } from "../../support/read-text.js";

/** One checkpoint is in memory at a time. Deterministic: the same thread produces the same text. @throws NotFoundError (`thread_not_found`) */
export async function* threadText(client: Client, threadId: string, paths: Paths): AsyncGenerator<string> {
  const thread = await client.threads.get(threadId);
  const head = {
    format: THREAD_FILE_FORMAT,
    version: THREAD_FILE_VERSION,
    thread: redactThread(thread, paths),
  };
  yield textOf(head).slice(0, -1);
  yield* list("runs", walkRuns(client, threadId), (run) => redactRun(run, paths));
  const namespaces = new Set<string>();
  const states = withNamespaces(walkOldestFirst(client, threadId, ""), namespaces);
  yield* list("states", states, (state) => redactState(state, paths));
  const nested = nestedStates(client, threadId, namespaces);
  yield* list("subgraphs", nested, (state) => redactState(state, paths));
  if (client.stored)
    yield* list("checkpoints", client.stored(threadId), (stored) => redactStored(stored, paths));
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

/** Collects the namespaces of the subgraphs that the tasks of these states ran. */
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
  client: Client,
  threadId: string,
  namespaces: ReadonlySet<string>,
): AsyncGenerator<ThreadState> {
  for (const ns of [...namespaces].sort()) {
    const below = new Set<string>();
    yield* withNamespaces(walkOldestFirst(client, threadId, ns), below);
    yield* nestedStates(client, threadId, below);
  }
}

/** JSON on one line; control characters occur only in strings, where escapes are equivalent. */
const textOf = (value: object): string => escapeControl(JSON.stringify(value));

/** @throws InvalidRequestError if it is not such a file (`invalid_request`) */
export async function readThreadFile(path: string, file: string): Promise<ThreadFile> {
  const refuse = (why: string, cause?: unknown) =>
    new InvalidRequestError(`${file} cannot be imported: ${why}`, undefined, {
      hint: "use a file written by graph-serve export",
      cause,
    });
  let content: unknown;
  try {
    content = JSON.parse(await readText(path));
  } catch (error) {
    throw refuse(errorMessage(error), error);
  }
  const fault = threadFileFault(content);
  if (fault !== undefined) throw refuse(fault);
  return content as ThreadFile;
}
