import type { Command } from "@commander-js/extra-typings";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { localClient } from "../../client/local.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import type { ThreadFile } from "../../models/thread-file.js";
import type { Service } from "../../service/service.js";
import { GraphServeError, InvalidRequestError, ThreadExistsError } from "../../support/errors.js";
import { newId } from "../../support/ids.js";
import { examples, type Runner } from "../session/command.js";
import { parsePathFlag } from "../diff/side.js";
import { openStorageOf, storageConfig, withRememberedGraphs } from "../session/open.js";
import {
  addClientOptions,
  addStorageOptions,
  listOption,
  placeWords,
  quoted,
  clientOptions,
  type StorageFlags,
  THREAD,
} from "../session/options.js";
import { shortPath } from "../session/report-error.js";
import { nextCommand } from "../run/outcome.js";
import { inputFlagFor } from "../session/graph-keys.js";
import type { Session } from "../session/session.js";
import { findThreadId } from "../session/find.js";
import { refuseHidden, warnHidden, withClient } from "../session/open-client.js";
import type { ClientFlags } from "../session/options.js";
import { readThreadFile, threadText } from "../transfer/thread-file.js";
import { threadArgument } from "../threads/pick.js";

const options = {
  redact: () =>
    listOption("--redact <path>", "replace values at this path with [redacted], such as messages[*].content"),
};

export function exportCommand(command: Command, run: Runner): void {
  addClientOptions(
    command
      .argument("[thread]", THREAD)
      .option("--out <file>", "write to a file instead of stdout")
      .addOption(options.redact()),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve export 0198c0de --out thread.json",
        "graph-serve export 0198c0de --redact messages[*].content > thread.json",
        "graph-serve export 0198c0de --url http://127.0.0.1:2024 --out thread.json",
      ),
    )
    .action((thread, flags) =>
      run(command, async (session) =>
        exportThread(session, await threadArgument(session, flags, thread), flags),
      ),
    );
}

export function importCommand(command: Command, run: Runner): void {
  addStorageOptions(
    command
      .argument("<file>", "file written by export")
      .option("--as <id>", "thread id to import as, or new for a generated id (default: the original id)"),
  )
    .addHelpText(
      "after",
      examples("graph-serve import thread.json", "graph-serve import thread.json --as new"),
    )
    .action((file, flags) => run(command, async (session) => importThread(session, file, flags)));
}

/** The deprecated `pull`, now `export --url`. */
export function pullCommand(command: Command, run: Runner): void {
  command
    .argument("<url>", "address of the server")
    .argument("<thread>", THREAD)
    .addOption(clientOptions.apiKey())
    .option("--out <file>", "write to a file instead of stdout")
    .addOption(options.redact())
    .action((url, thread, flags) =>
      run(command, async (session) => exportThread(session, thread, { ...flags, url })),
    );
}

interface ExportFlags extends ClientFlags {
  redact?: string[];
  out?: string;
}

/** `export`: writes a thread to one file. */
async function exportThread(session: Session, thread: string, flags: ExportFlags): Promise<number> {
  const paths = (flags.redact ?? []).map((path) => parsePathFlag("--redact", path.replaceAll("[*]", ".*")));
  const { io, print } = session;
  await withClient(session, flags, {}, async (client) => {
    const threadId = await findThreadId(client, thread);
    const text = threadText(client, threadId, paths);
    const first = await text.next();
    const found = await client.threads.get(threadId);
    refuseHidden(client, found, await client.threads.getState(threadId));
    warnHidden(print, client, [found]);
    const file = flags.out === undefined ? undefined : await open(resolve(io.cwd, flags.out), "w");
    const write = async (part: string) => {
      if (file) return file.appendFile(part);
      print.part(part);
      return print.drained();
    };
    try {
      await write(first.value as string);
      for await (const part of text) await write(part);
    } finally {
      await file?.close();
    }
    if (client.stored && !flags.raw) noteHiddenPayloads(print, await client.threads.getState(threadId));
    if (flags.out === undefined) return;
    if (print.isJson) print.json({ thread_id: threadId, file: flags.out });
    else print.note(`wrote ${shortPath(resolve(io.cwd, flags.out), io.cwd)}`);
  });
  return 0;
}

interface ImportFlags extends StorageFlags {
  as?: string;
}

/** `import`: stores an exported thread. */
async function importThread(session: Session, file: string, flags: ImportFlags): Promise<number> {
  const { io, print } = session;
  const content = await readThreadFile(resolve(io.cwd, file), file);
  const { config, targets } = await withRememberedGraphs(await storageConfig(session, flags), io.cwd);
  if (config.settings.checkpointer_scheme === "memory") {
    throw new InvalidRequestError("scheme memory does not persist an import", undefined, {
      hint: "specify a storage with --db",
    });
  }
  const service = await openStorageOf(config, "edit");
  try {
    const thread = await restored(service, content, {
      as: flags.as,
      asNew: [
        "graph-serve import",
        quoted(file),
        "--as new",
        ...placeWords({ ...session.flags, ...flags }),
      ].join(" "),
    });
    warnOfLostPayloads(print, content);
    if (print.isJson) print.json(thread);
    else print.data(thread.thread_id);
    const waiting = Object.values(thread.interrupts).flat();
    const { thread_id } = thread;
    const client = localClient(service, { targets });
    const input = await inputFlagFor(client, thread);
    const graph = client.graphOf(thread);
    const next = nextCommand(
      { thread_id, interrupts: waiting },
      graph,
      { ...session.flags, ...flags },
      input,
    );
    print.note(`next  ${next}`);
  } finally {
    await service.close(0);
  }
  return 0;
}

/** @throws GraphServeError if the thread id exists, with a hint (`thread_exists`) */
async function restored(
  { threads }: Service,
  content: ThreadFile,
  { as, asNew }: { as: string | undefined; asNew: string },
): Promise<Thread> {
  try {
    return await threads.restore(content, as === "new" ? newId() : as);
  } catch (error) {
    if (!(error instanceof ThreadExistsError)) throw error;
    throw new GraphServeError("thread_exists", error.message, {
      hint: `import it under a new id: ${asNew}`,
      cause: error,
    });
  }
}

/** A thread exported from a server includes the nodes called with `Send`, but not their arguments. */
function warnOfLostPayloads(print: Session["print"], { states, checkpoints }: ThreadFile): void {
  const names = sentTo(states.at(-1));
  if (checkpoints !== undefined || names === undefined) return;
  print.warn(
    `the file does not contain the values sent to ${names}: resume from an earlier checkpoint, or export offline`,
  );
}

function noteHiddenPayloads(print: Session["print"], state: ThreadState): void {
  const names = sentTo(state);
  if (names === undefined) return;
  print.note(
    `values sent to ${names} are omitted if they are outside the graph's output schema: use --raw to include them`,
  );
}

/** Names of the pending nodes with a `Send` payload. */
function sentTo(state: ThreadState | undefined): string | undefined {
  const sent = state?.tasks.filter(({ path }) => path?.[0] === "__pregel_push") ?? [];
  return sent.length === 0 ? undefined : [...new Set(sent.map(({ name }) => name))].join(", ");
}
