import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "@commander-js/extra-typings";
import { Option } from "../session/commander.js";
import { InvalidRequestError } from "../../support/errors.js";
import { createRedaction, keepSecrets, type Redact } from "../../testing/cases/redact.js";
import { addFormerFlag, examples, type Runner } from "../session/command.js";
import {
  addClientOptions,
  checkpointOption,
  clientOptions,
  optionalNumber,
  THREAD_AT,
} from "../session/options.js";
import { type ReplayExecuteFlags, replayExecute } from "../replay/execute.js";
import { StepKeys } from "../replay/keys.js";
import { replayPage } from "../replay/page.js";
import {
  type HistoryStep,
  type HistorySteps,
  innerStepsOf,
  openHistory,
  type ShownStep,
  stepRange,
} from "../replay/steps.js";
import type { InnerStep } from "../history/subgraphs.js";
import { hasNews, innerLines, stepLines } from "../replay/text.js";
import type { Session } from "../session/session.js";
import { findThreadId, namedCheckpoint } from "../session/find.js";
import { warnHidden, withClient } from "../session/open-client.js";
import { abortOnStop, SIGNAL_EXITS } from "../session/stop.js";
import { threadArgument } from "../threads/pick.js";
import { printJsonList } from "../terminal/json-list.js";

export function replayCommand(command: Command, run: Runner): void {
  const replay = addClientOptions(
    command
      .argument("[thread]", THREAD_AT)
      .addOption(checkpointOption("start at this checkpoint; with --execute, run from it"))
      .option("--to <checkpoint>", "stop at this checkpoint")
      .option("--delay <ms>", "delay between checkpoints, in milliseconds")
      .option("--step", "step with keys: space next, p back, q quit")
      .option("--changed-only", "skip checkpoints without changes")
      .addOption(
        new Option("--format <format>", "output format; html is one self-contained page")
          .choices(["text", "html"] as const)
          .default("text"),
      )
      .option(
        "--keep-secrets",
        "with --format html: do not redact values that look like secrets or have names of secrets",
      )
      .option("--execute", "run the thread's last run again on a copy, with the same input and answers")
      .option("--run <run>", "with --execute: run this run again instead of the last one")
      .option(
        "--keep",
        "with --execute: store the copy, to inspect or continue it; otherwise the run is in memory",
      )
      .option("--in-place", "with --execute: run as a branch of the same thread instead of a copy")
      .option("--values <json>", "with --execute: values to write first")
      .option("--as-node <node>", "with --execute: node that the values are attributed to")
      .option("--against <graph>", "with --execute: graph to run instead, such as ./graph.ts:graph")
      .option("--compare", "with --execute: show old and new side by side")
      .option("--exit-code", "with --compare: exit with code 1 if they differ"),
  )
    .addOption(clientOptions.raw())
    .addHelpText(
      "after",
      examples(
        "graph-serve replay 0198c0de",
        "graph-serve replay 0198c0de --step",
        "graph-serve replay 0198c0de --format html > thread.html",
        "graph-serve replay 0198c0de --execute --against ./graph.ts:graph --compare",
      ),
    )
    .action((text, options) =>
      run(command, async (session) => {
        const thread = await threadArgument(session, options, text);
        return options.execute
          ? replayExecute(session, thread, options)
          : replayStored(session, thread, options);
      }),
    );
  addFormerFlag(replay, "--from <checkpoint>", "--checkpoint");
  addFormerFlag(replay, "--at <checkpoint>", "--checkpoint");
}

const EXECUTE_FLAGS = [
  "run",
  "keep",
  "inPlace",
  "values",
  "asNode",
  "against",
  "compare",
  "exitCode",
] as const;

interface ReplayFlags extends ReplayExecuteFlags {
  keepSecrets?: boolean;
  to?: string;
  delay?: string;
  changedOnly?: boolean;
}

/** `replay`: shows the stored checkpoints of a thread one by one, without executing nodes. */
async function replayStored(session: Session, thread: string, flags: ReplayFlags): Promise<number> {
  const delay = optionalNumber("--delay", flags.delay) ?? 0;
  refuseContradictions(session, flags);
  const stop = abortOnStop(session.io);
  let isInterrupted = false;
  try {
    await withClient(session, flags, {}, async (client) => {
      const { thread: text, checkpoint: from } = namedCheckpoint(thread, flags.checkpoint);
      const range = { from, to: flags.to };
      const threadId = await findThreadId(client, text);
      const found = await client.threads.get(threadId);
      warnHidden(session.print, client, [found]);
      session.print.note(`thread ${threadId}  ${found.status}  ${client.place}`);
      const { print } = session;
      const steps = () => stepRange(client, threadId, range);
      const inner = ({ subgraphs }: ShownStep) => innerStepsOf(client, threadId, subgraphs);
      if (print.isJson) await printJsonList(print, documents(steps(), inner, flags));
      else if (flags.format === "html")
        await print.parts(
          replayPage({ thread: found, place: client.place }, steps(), redactionOf(session, flags)),
        );
      else if (flags.step) {
        const history = await openHistory(client, threadId, range);
        isInterrupted = await stepThrough(session, history, { ...flags, signal: stop.signal });
      } else await play(session, steps(), { ...flags, inner, delay, signal: stop.signal });
    });
    if (isInterrupted) return SIGNAL_EXITS.SIGINT ?? 1;
    return stop.signal.aborted ? (SIGNAL_EXITS[String(stop.signal.reason)] ?? 1) : 0;
  } finally {
    stop.dispose();
  }
}

/** HTML pages get shared, so secrets are redacted, including values from the env file, which is already loaded. */
const redactionOf = ({ io }: Session, { keepSecrets: keeps }: ReplayFlags): Redact =>
  keeps ? keepSecrets : createRedaction({ ...process.env, ...io.env });

function refuseContradictions({ io, print }: Session, flags: ReplayFlags): void {
  const { step, delay, format, keepSecrets: keeps } = flags;
  const refuse = (fault: string, hint: string): never => {
    throw new InvalidRequestError(fault, undefined, { hint });
  };
  const alone = EXECUTE_FLAGS.find((name) => flags[name] !== undefined);
  if (alone !== undefined)
    refuse(
      `--${alone.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} requires --execute`,
      "add --execute, or remove the flag",
    );
  if (keeps && (format !== "html" || print.isJson))
    refuse("--keep-secrets requires --format html: other formats are not redacted", "remove it");
  if (!step) return;
  if (delay !== undefined) refuse("--step and --delay cannot be combined", "remove one of them");
  if (format === "html" || print.isJson)
    refuse("--step requires the text format", "the HTML page has its own keys");
  if (!io.stdin.isTTY) refuse("--step requires a terminal", "use --delay 500, or --format html");
}

/** Reads the steps of the subgraphs of a step. */
type ReadInner = (step: ShownStep) => AsyncIterable<InnerStep<HistoryStep>>;

/** Steps as JSON: the state as in the API, the run, node and changes that led to it, and the steps of subgraphs. */
async function* documents(
  steps: AsyncIterable<ShownStep>,
  inner: ReadInner,
  { changedOnly }: ReplayFlags,
): AsyncGenerator<object> {
  for await (const step of steps) {
    if (changedOnly && !hasNews(step)) continue;
    const subgraphs: object[] = [];
    for await (const { path, step: each } of inner(step)) subgraphs.push({ path, ...stepDocument(each) });
    yield { ...stepDocument(step), ...(subgraphs.length > 0 && { subgraphs }) };
  }
}

const stepDocument = ({ state, entry: { nodes, ms }, changes }: HistoryStep) => ({
  ...state,
  ...{ nodes, ms: ms ?? null, changes },
});

interface PlayOptions {
  inner: ReadInner;
  changedOnly?: boolean;
  delay: number;
  signal: AbortSignal;
}

async function play(
  { print }: Session,
  steps: AsyncIterable<ShownStep>,
  { inner, changedOnly, delay, signal }: PlayOptions,
): Promise<void> {
  let count = 0;
  for await (const step of steps) {
    if (signal.aborted) return;
    if (changedOnly && !hasNews(step)) continue;
    if (count > 0 && delay > 0) await wait(delay, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    count += 1;
    for (const line of stepLines(print, step)) print.data(line);
    for await (const each of inner(step)) for (const line of innerLines(print, each)) print.data(line);
    await print.drained();
  }
  if (count === 0) print.note("no checkpoints to replay");
}

const HELP = "keys: space next, p back, q quit";

/** Returns true if it was stopped with Ctrl-C. */
async function stepThrough(
  { io, print }: Session,
  history: HistorySteps,
  { changedOnly, signal }: { changedOnly?: boolean; signal: AbortSignal },
): Promise<boolean> {
  let index = await nextShown(history, -1, 1, changedOnly);
  if (!index) {
    print.note("no checkpoints to replay");
    return false;
  }
  print.note(HELP);
  const show = async (step: HistoryStep) => {
    for (const line of stepLines(print, step)) print.data(line);
    for await (const each of history.inner(step))
      for (const line of innerLines(print, each)) print.data(line);
  };
  // Read keys before the first output, because the user may press one as soon as it appears.
  const keys = new StepKeys(io, signal);
  try {
    await show(index.step);
    for await (const key of keys) {
      if (key === "quit" || key === "interrupt") return key === "interrupt";
      const found = await nextShown(history, index.at, key === "next" ? 1 : -1, changedOnly);
      if (!found && key === "next") return false;
      if (!found) continue;
      index = found;
      await show(index.step);
    }
  } finally {
    keys.close();
  }
  return false;
}

/** The nearest step in a direction that is not filtered out. */
async function nextShown(
  history: HistorySteps,
  from: number,
  direction: 1 | -1,
  changedOnly = false,
): Promise<{ at: number; step: HistoryStep } | undefined> {
  for (let at = from + direction; at >= 0 && at < history.length; at += direction) {
    const step = await history.step(at);
    if (!changedOnly || hasNews(step)) return { at, step };
  }
  return undefined;
}
