import type { Command } from "@commander-js/extra-typings";
import { isRecord } from "../../models/common.js";
import type { ThreadState, ThreadTask } from "../../models/state.js";
import { parsePath, valueAt } from "../../models/value-path.js";
import { InvalidRequestError } from "../../support/errors.js";
import { errorLine, escapeControl } from "../../view/text.js";
import { addFormerFlag, examples, type Runner } from "../session/command.js";
import { faultOf } from "../history/faults.js";
import {
  inspectedThread,
  printInspectedRun,
  printInspectedThread,
  superstepsOf,
  unfinishedFields,
} from "../inspect/cards.js";
import {
  addClientOptions,
  checkpointOption,
  type ClientFlags,
  clientOptions,
  RUN,
  THREAD,
  THREAD_AT,
} from "../session/options.js";
import type { Session } from "../session/session.js";
import { findCheckpoint, findRun, findThreadId } from "../session/find.js";
import { refuseHidden, warnHidden, withClient } from "../session/open-client.js";
import { runArgument, threadArgument } from "../threads/pick.js";
import { printFields } from "../terminal/table.js";
import { printJsonWithList } from "../terminal/json-list.js";
import type { Printer } from "../terminal/print.js";
import { clipped, shownTime } from "../terminal/text.js";
import { valueTree } from "../terminal/value-tree.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";

export function inspectCommand(inspect: Command, run: Runner): void {
  inspect.addHelpText("after", examples(`graph-serve inspect thread ${EXAMPLE}`));
  addThread(inspect, run);
  addRun(inspect, run);
  addCheckpoint(inspect, run);
  addState(inspect, run);
}

function addThread(inspect: Command, run: Runner): void {
  addClientOptions(
    inspect
      .command("thread")
      .description("Show a thread: status, runs, tokens, errors, open interrupts, latest values.")
      .argument("[thread]", THREAD)
      .option("--values", "show only the values")
      .option("--full", "do not fold or truncate values"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect thread ${EXAMPLE}`,
        `graph-serve inspect thread ${EXAMPLE} --values --full`,
        `graph-serve inspect thread ${EXAMPLE} --url http://127.0.0.1:2024 --json`,
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        inspectThread(session, await threadArgument(session, options, thread), options),
      ),
    );
}

function addRun(inspect: Command, run: Runner): void {
  addClientOptions(
    inspect
      .command("run")
      .description("Show the supersteps of a run: nodes, durations, changes and errors.")
      .argument("[run]", RUN)
      .option("--thread <thread>", "thread of the run (default: search all threads)"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve inspect run 0198c0de-0000-7000-8000-000000000001",
        `graph-serve inspect run 0198c0de-0000-7000-8000-000000000001 --thread ${EXAMPLE} --json`,
      ),
    )
    .action((runId, options, command) =>
      run(command, async (session) =>
        inspectRun(session, await runArgument(session, options, runId), options),
      ),
    );
}

function addCheckpoint(inspect: Command, run: Runner): void {
  addClientOptions(
    inspect
      .command("checkpoint")
      .description("Show a checkpoint: its position in the thread, the next nodes, and its values.")
      .argument("[thread]", THREAD_AT)
      .argument("[checkpoint]", "the checkpoint, in the same form as after @ (default the latest)")
      .addOption(clientOptions.ns())
      .option("--writes", "also show the writes of the tasks after it")
      .option("--full", "do not fold or truncate values"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect checkpoint ${EXAMPLE}`,
        `graph-serve inspect checkpoint ${EXAMPLE}@0 --writes`,
        `graph-serve inspect checkpoint ${EXAMPLE} 1f0c5a3e-7b2d-6abc-8000-c0ffee000000 --json`,
      ),
    )
    .action((thread, checkpoint, options, command) =>
      run(command, async (session) =>
        inspectCheckpoint(session, await threadArgument(session, options, thread), checkpoint, options),
      ),
    );
}

function addState(inspect: Command, run: Runner): void {
  const state = addClientOptions(
    inspect
      .command("state")
      .description("Print the values of a thread, or one value, for use in a pipe.")
      .argument("[thread]", THREAD_AT)
      .addOption(checkpointOption("print this checkpoint instead of the latest"))
      .option("--path <path>", "print one value, such as messages[-1].content")
      .addOption(clientOptions.ns()),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve inspect state ${EXAMPLE} --path "messages[-1].content"`,
        `graph-serve inspect state ${EXAMPLE}@0`,
        `graph-serve inspect state ${EXAMPLE} --checkpoint -1 --json`,
      ),
    )
    .action((thread, options, command) =>
      run(command, async (session) =>
        inspectState(session, await threadArgument(session, options, thread), options),
      ),
    );
  addFormerFlag(state, "--at <checkpoint>", "--checkpoint");
}

interface InspectThreadFlags extends ClientFlags {
  values?: boolean;
  full?: boolean;
}

/** `inspect thread`. With `alone`, for the deprecated `threads get`, the JSON output is the thread only. */
export async function inspectThread(
  session: Session,
  thread: string,
  flags: InspectThreadFlags,
  { alone = false } = {},
): Promise<number> {
  const { print } = session;
  await withClient(session, flags, {}, async (client) => {
    const found = await inspectedThread(client, await findThreadId(client, thread));
    if (flags.values) refuseHidden(client, found.thread, found.state);
    warnHidden(print, client, [found.thread]);
    if (print.isJson) print.json(flags.values ? found.state.values : alone ? found.thread : found);
    else printInspectedThread(session, client, found, flags);
  });
  return 0;
}

interface InspectRunFlags extends ClientFlags {
  thread?: string;
}

/** `inspect run`: shows its supersteps. With `alone`, for the deprecated `runs get`, the JSON output is the run only. */
export async function inspectRun(
  session: Session,
  runId: string,
  flags: InspectRunFlags,
  { alone = false } = {},
): Promise<number> {
  const { print } = session;
  await withClient(session, flags, {}, async (client) => {
    const { threadId, run } = await findRun(client, runId, flags.thread);
    warnHidden(print, client, [await client.threads.get(threadId)]);
    const fault = await faultOf(client, run);
    const supersteps = superstepsOf(client, threadId, run);
    if (print.isJson && alone) print.json(run);
    else if (print.isJson)
      await printJsonWithList(print, { run, ...(fault && { fault }) }, "supersteps", supersteps);
    else await printInspectedRun(print, run, supersteps, fault);
  });
  return 0;
}

interface InspectCheckpointFlags extends ClientFlags {
  ns?: string;
  writes?: boolean;
  full?: boolean;
}

/** `inspect checkpoint`: shows one checkpoint, by default the latest. */
async function inspectCheckpoint(
  session: Session,
  thread: string,
  checkpoint: string | undefined,
  flags: InspectCheckpointFlags,
): Promise<number> {
  const { print } = session;
  await withClient(session, flags, {}, async (client) => {
    const { threadId, state } = await findCheckpoint(client, thread, { checkpoint, ns: flags.ns });
    warnHidden(print, client, [await client.threads.get(threadId)]);
    if (print.isJson) print.json(state);
    else printCheckpoint(print, state, flags);
  });
  return 0;
}

interface InspectStateFlags extends ClientFlags {
  ns?: string;
  checkpoint?: string;
  path?: string;
}

/** `inspect state`: prints a value without decoration, for use in a pipe. */
async function inspectState(session: Session, thread: string, flags: InspectStateFlags): Promise<number> {
  const { print } = session;
  await withClient(session, flags, {}, async (client) => {
    const { threadId, state } = await findCheckpoint(client, thread, flags);
    const found = await client.threads.get(threadId);
    refuseHidden(client, found, state);
    warnHidden(print, client, [found]);
    const value = stateValue(state.values, flags.path);
    if (print.isJson || typeof value !== "string") print.json(value);
    else print.data(escapeControl(value));
  });
  return 0;
}

interface CheckpointFlags {
  /** Also show the writes of the tasks after it. */
  writes?: boolean;
  /** Do not fold or truncate values. */
  full?: boolean;
}

function printCheckpoint(print: Printer, state: ThreadState, { writes, full }: CheckpointFlags): void {
  const { checkpoint, parent_checkpoint, metadata, created_at, next, tasks } = state;
  const { colors, width } = print;
  const { source, step, run_id, thread_id, parents: _parents, ...others } = metadata;
  printFields(print, [
    ["thread", checkpoint?.thread_id ?? text(thread_id)],
    ["checkpoint", checkpoint?.checkpoint_id ?? "none"],
    ["namespace", checkpoint?.checkpoint_ns],
    ["parent", parent_checkpoint?.checkpoint_id ?? undefined],
    ["source", text(source)],
    ["step", text(step)],
    ["run", text(run_id)],
    ["created", shownTime(print, created_at)],
    ["next", next.join(", ")],
    ...unfinishedFields(state),
    ["metadata", JSON.stringify(others)],
  ]);
  if (tasks.length > 0) print.data(colors.dim("tasks"));
  for (const task of tasks) {
    print.data(`  ${clipped(taskLine(task), width - 2)}`);
    if (writes && task.result !== null) {
      for (const line of valueTree(task.result, { colors, width, full }, 2)) print.data(line);
    }
  }
  print.data(colors.dim("values"));
  for (const line of valueTree(state.values, { colors, width, full })) print.data(line);
}

function taskLine(task: ThreadTask): string {
  const { name, id, error, interrupts } = task;
  const waits = interrupts.map(({ value }) => `waiting for ${JSON.stringify(value)}`);
  const within = task.checkpoint?.checkpoint_ns ? [`--ns ${task.checkpoint.checkpoint_ns}`] : [];
  return [name, id, ...within, ...(error === null ? [] : [`failed: ${errorLine(error)}`]), ...waits].join(
    "  ",
  );
}

const text = (value: unknown): string | undefined => {
  if (typeof value === "string") return value;
  return value == null ? undefined : JSON.stringify(value);
};

/**
 * The value at a path such as `messages[-1].content`; all values without a path.
 * @throws InvalidRequestError if the path is invalid or does not exist (`invalid_request`)
 */
function stateValue(values: unknown, path: string | undefined): unknown {
  if (path === undefined) return values;
  const steps = parsePath(path);
  if (!steps)
    throw new InvalidRequestError(`--path is not a valid path: ${path}`, undefined, { hint: PATH_EXAMPLE });
  const value = valueAt(values, steps);
  if (value !== undefined) return value;
  const keys = isRecord(values) ? Object.keys(values) : [];
  throw new InvalidRequestError(`--path ${path} does not exist in this state`, undefined, {
    hint: keys.length > 0 ? `its keys are: ${keys.join(", ")}` : "the state has no visible keys",
  });
}

const PATH_EXAMPLE = "for example --path messages[-1].content";
