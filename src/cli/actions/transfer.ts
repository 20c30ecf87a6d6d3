import { open, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { errorMessage, InvalidRequestError } from "../../errors.js";
import { newId } from "../../ids.js";
import { threadFileFault, type ThreadFile } from "../../models/thread-file.js";
import type { StorageFlags } from "../commands/listen-options.js";
import { stepsOf } from "../diff/narrow.js";
import { openStorageOf, storageConfig } from "../open-storage.js";
import { nextCommand } from "../run/next-command.js";
import { shortPath } from "../report-error.js";
import type { Session } from "../session.js";
import { findThreadId } from "../source/find.js";
import { warnHidden } from "../source/hidden.js";
import type { SourceFlags } from "../source/source.js";
import { namedGraph } from "../source/offline-source.js";
import { withSource } from "../source/with-source.js";
import { threadText } from "../transfer/write-thread.js";

export interface ExportFlags extends SourceFlags {
  redact?: string[];
  out?: string;
}

/** `export` and `pull`: a thread as one file. */
export async function exportThread(session: Session, thread: string, flags: ExportFlags): Promise<number> {
  const paths = (flags.redact ?? []).map((path) => stepsOf("--redact", path.replaceAll("[*]", ".*")));
  const { io, print } = session;
  await withSource(session, flags, {}, async (source) => {
    const threadId = await findThreadId(source, thread);
    const text = threadText(source, threadId, paths);
    const first = await text.next();
    warnHidden(print, source, [await source.threads.get(threadId)]);
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
    if (flags.out === undefined) return;
    if (print.isJson) print.json({ thread_id: threadId, file: flags.out });
    else print.note(`wrote ${shortPath(resolve(io.cwd, flags.out), io.cwd)}`);
  });
  return 0;
}

export interface ImportFlags extends StorageFlags {
  as?: string;
}

/** `import`: store an exported thread. */
export async function importThread(session: Session, file: string, flags: ImportFlags): Promise<number> {
  const { io, print } = session;
  const content = await readThreadFile(resolve(io.cwd, file), file);
  const config = await storageConfig(session, flags);
  if (config.settings.checkpointer_scheme === "memory") {
    throw new InvalidRequestError("scheme memory keeps nothing of an import", undefined, {
      hint: "name a storage with --checkpointer-scheme and --checkpointer-uri",
    });
  }
  const service = await openStorageOf(config, "write");
  try {
    const thread = await service.threads.restore(content, flags.as === "new" ? newId() : flags.as);
    warnOfLostPayloads(print, content);
    if (print.isJson) print.json(thread);
    else print.data(thread.thread_id);
    const waiting = Object.values(thread.interrupts).flat();
    const { thread_id } = thread;
    print.note(
      `next  ${nextCommand({ thread_id, interrupts: waiting }, namedGraph(service, thread.metadata.graph_id), { ...session.flags, ...flags })}`,
    );
  } finally {
    await service.close(0);
  }
  return 0;
}

/** What a server shows of a thread says which nodes are called, not what they are called with. */
function warnOfLostPayloads(print: Session["print"], { states, checkpoints }: ThreadFile): void {
  if (checkpoints !== undefined) return;
  const sent = states.at(-1)?.tasks.filter(({ path }) => path?.[0] === "__pregel_push") ?? [];
  if (sent.length === 0) return;
  const names = [...new Set(sent.map(({ name }) => name))].join(", ");
  print.warn(
    `the file does not say what was sent to ${names}: go on from an earlier checkpoint, or export offline`,
  );
}

async function readThreadFile(path: string, file: string): Promise<ThreadFile> {
  const refuse = (why: string, cause?: unknown) =>
    new InvalidRequestError(`${file} cannot be imported: ${why}`, undefined, {
      hint: "give it a file that graph-serve export or graph-serve pull made",
      cause,
    });
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw refuse(errorMessage(error), error);
  }
  const fault = threadFileFault(content);
  if (fault !== undefined) throw refuse(fault);
  return content as ThreadFile;
}
