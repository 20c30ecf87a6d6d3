import type { Command } from "@commander-js/extra-typings";
import { type Client, foundOnly, graphIdOf } from "../../client/client.js";
import { RunSoFar } from "../../client/run-events.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import type { StreamMode } from "../../models/run.js";
import { reportedTokens } from "../../models/token-counts.js";
import { GraphServeError, InvalidRequestError } from "../../support/errors.js";
import { canonicalUuid, newId } from "../../support/ids.js";
import { escapeControl } from "../../view/text.js";
import { examples, type Runner } from "../session/command.js";
import { Option } from "../session/commander.js";
import { findCheckpoint, findThreadId, namedCheckpoint, type NamedCheckpoint } from "../session/find.js";
import { inputFlag, graphSchema, unknownInput } from "../session/graph-keys.js";
import { locatedNotFound } from "../session/not-found.js";
import { clientOf } from "../session/open-client.js";
import { addStorageOptions, checkpointOption, clientOptions, type PlaceFlags } from "../session/options.js";
import { conversation, LiveView } from "../run/live-view.js";
import {
  attachFault,
  changedValues,
  failedCommands,
  nextCommand,
  runReport,
  type RunReport,
  stepOf,
} from "../run/outcome.js";
import { DURABILITIES, type RequestFlags, runBody, type RunBody, streamModes } from "../run/request.js";
import type { Session } from "../session/session.js";
import { abortOnStop, Closers, SIGNAL_EXITS } from "../session/stop.js";
import { valueTree } from "../terminal/value-tree.js";

export function runCommand(command: Command, run: Runner): void {
  addStorageOptions(
    command
      .argument(
        "[graph]",
        "file such as ./graph.ts:graph, key of the configuration, or assistant of the server (default: the graph of --thread, else the first)",
      )
      .option("-i, --input <json>", "input: JSON, @file, or - for stdin")
      .option("--message <text>", "input: one user message")
      .option("--thread <id>", "thread to run on, or new; append @ and a checkpoint to start from it", "new")
      .option("--stream <modes>", "comma-separated stream modes")
      .option("--run-config <json>", "config of the run")
      .option("--context <json>", "context of the run")
      .option("--resume <answer>", "answer to the open interrupt, as JSON or plain text")
      .option("--goto <node>", "node to go to")
      .addOption(checkpointOption("start from this checkpoint"))
      .addOption(
        new Option(
          "--durability <mode>",
          "when checkpoints are stored: sync, async (default) or exit",
        ).choices(DURABILITIES),
      )
      .option("--budget <amount>", "what the run may use before it asks, such as 0.50 USD or 200k tokens")
      .option("--state", "print the final state as JSON (default if stdout is not a terminal)")
      .option(
        "--deterministic [seed]",
        "give nodes the same times, random numbers and UUIDs in every execution with this seed (default: 0)",
      )
      .option("--interactive", "continue with one message or one answer per line")
      .option("--url <url>", "run on this server instead of in this process")
      .addOption(clientOptions.apiKey()),
  )
    .addHelpText(
      "after",
      examples(
        'graph-serve run --message "hello"',
        "graph-serve run ./graph.ts:graph -i @input.json --json",
        "graph-serve run --thread 0198c0de-0000-7000-8000-000000000000 --resume true",
        'graph-serve run --url http://127.0.0.1:2024 --message "hello" --jsonl',
      ),
    )
    .action((graph, options) => run(command, async (session) => runGraph(session, graph, options)));
}

interface RunFlags extends RequestFlags, PlaceFlags {
  state?: boolean;
  deterministic?: string | true;
}

const FAILED_EXIT = 1;
const WATCHED_MODES: readonly StreamMode[] = ["messages-tuple", "tasks", "custom"];
const RAW_MODES: readonly StreamMode[] = ["values", "updates", "messages-tuple", "custom"];

/** `run`: executes one run of a graph, or an interactive conversation. */
async function runGraph(session: Session, graph: string | undefined, given: RunFlags): Promise<number> {
  const named = namedCheckpoint(given.thread, given.checkpoint);
  const flags = { ...given, ...named };
  const body = await runBody(flags, session.io, (message) => session.print.warn(message));
  const modes = modesOf(session, flags);
  const closers = new Closers();
  const stop = abortOnStop(session.io);
  closers.add(() => stop.dispose());
  let client: Client | undefined;
  try {
    client = await clientOf(session, flags, {
      access: "run",
      graph,
      continuesThread: flags.thread !== "new",
    });
    closers.add(() => client?.close());
    flags.thread = await threadOf(client, flags.thread);
    if (flags.deterministic !== undefined) closers.add(await seedRun(flags, client));
    if (flags.resume !== undefined) await refuseIdle(client, flags.thread);
    if (named.checkpoint !== undefined) body.checkpoint_id = await checkpointId(client, named);
    const runner = new RunCommand(session, client, { graph, flags, modes, signal: stop.signal });
    if (!flags.interactive || body.input !== undefined || body.command) await runner.execute(body);
    if (flags.interactive) await runner.converse();
    return runner.exitCode;
  } catch (error) {
    throw client ? locatedNotFound(error, client, { ...session.flags, ...flags }) : error;
  } finally {
    await closers.close();
  }
}

/**
 * Starts deterministic mode for the runs of this command.
 * @throws InvalidRequestError if a server executes them (`invalid_request`)
 */
async function seedRun({ deterministic }: RunFlags, { url }: Client): Promise<() => void> {
  if (url !== undefined)
    throw new InvalidRequestError("--deterministic works only for runs in this process", undefined, {
      hint: "remove --url, or stop the dev server of this folder",
    });
  const { FIRST_TIME, makeDeterministic } = await import("../../testing/deterministic.js");
  const seed = deterministic === true ? "0" : String(deterministic);
  return makeDeterministic(() => ({ seed, time: FIRST_TIME }));
}

/** A full id is not looked up: the run fails if the thread does not exist. */
async function threadOf(client: Client, text: string): Promise<string> {
  return text === "new" || canonicalUuid(text) !== undefined ? text : findThreadId(client, text);
}

/**
 * Rejects an answer to a thread without an open interrupt, which would have no effect.
 * @throws InvalidRequestError (`invalid_request`)
 */
async function refuseIdle(client: Client, thread: string): Promise<void> {
  const state = await foundOnly(client.threads.getState(thread));
  // A node that interrupts again after an answer is not in `next`, so check the interrupts too.
  if (!state || state.next.length > 0 || state.interrupts.length > 0) return;
  // If the node of the interrupt is gone, only the thread still shows it, and the run is refused with its name.
  if ((await client.threads.get(thread)).status === "interrupted") return;
  throw new InvalidRequestError(`thread ${thread} has no open interrupt to resume`, undefined, {
    hint: 'start a new run on it: --message "...", or --input JSON',
  });
}

async function checkpointId(client: Client, { thread, checkpoint = "" }: NamedCheckpoint): Promise<string> {
  const id = canonicalUuid(checkpoint);
  if (id !== undefined) return id;
  const { state } = await findCheckpoint(client, thread, { checkpoint });
  return state.checkpoint?.checkpoint_id ?? checkpoint;
}

function modesOf({ print }: Session, { stream }: RunFlags): StreamMode[] {
  if (print.flags.jsonl) return streamModes(stream, RAW_MODES);
  // The outcome is read from the `values` events.
  return [...new Set<StreamMode>(["values", ...streamModes(stream, print.flags.json ? [] : WATCHED_MODES)])];
}

interface RunnerOptions {
  graph: string | undefined;
  flags: RunFlags;
  modes: StreamMode[];
  signal: AbortSignal;
}

/** Executes and shows the runs of one thread sequentially. */
class RunCommand {
  readonly #session: Session;
  readonly #client: Client;
  readonly #options: RunnerOptions;
  readonly #threadId: string;
  #last: RunReport | undefined;
  /** The graph's input schema, requested only once per conversation. */
  #inputSchema: Promise<JsonObject | null> | undefined;
  exitCode = 0;

  constructor(session: Session, client: Client, options: RunnerOptions) {
    this.#session = session;
    this.#client = client;
    this.#options = options;
    this.#threadId = options.flags.thread === "new" ? newId() : options.flags.thread;
  }

  async converse(): Promise<void> {
    const { io, print } = this.#session;
    const { signal } = this.#options;
    for await (const body of conversation(io, print, () => this.#last, signal)) {
      await this.execute({ ...body, if_not_exists: "create" });
    }
    if (signal.aborted) this.exitCode = signalExit(signal);
  }

  async execute(body: RunBody): Promise<void> {
    const start = performance.now();
    const view = new LiveView(this.#session.print);
    const before = this.#showsState ? {} : await this.#stateBefore(body);
    const outcome = await this.#drain(body, view);
    this.#last = outcome;
    this.exitCode = this.#exitCodeOf(outcome);
    const isTold = await attachFault(this.#session.print, this.#client, outcome);
    this.#showValues(outcome, { before, spoken: view.hasSpoken });
    await this.#showEnd(outcome, Math.round(performance.now() - start), isTold);
  }

  /** Whether to print the final state to stdout: on request, or if stdout is not a terminal. */
  get #showsState(): boolean {
    const { print } = this.#session;
    return print.isJson || !print.isTerminal || this.#options.flags.state === true;
  }

  /** The state before a run, including its input. */
  async #stateBefore({ input }: RunBody): Promise<JsonObject> {
    const { flags } = this.#options;
    const isNew = flags.thread === "new" || this.#last !== undefined;
    const stored = isNew ? undefined : await foundOnly(this.#client.threads.getState(this.#threadId));
    const values = this.#last?.values ?? stored?.values;
    return { ...(isRecord(values) && values), ...(isRecord(input) && input) };
  }

  async #drain(body: RunBody, view: LiveView): Promise<RunReport> {
    const { print } = this.#session;
    const { flags, modes, signal } = this.#options;
    const run = new RunSoFar();
    const request = {
      ...body,
      assistant_id: await this.#assistantId(),
      stream_mode: modes,
      // Show nodes of subgraphs, unless --stream selects what to show.
      ...(!print.isJson && flags.stream === undefined && { stream_subgraphs: true }),
    };
    await this.#checkInput(body.input, request.assistant_id);
    if (print.isTerminal && !print.isJson && flags.message !== undefined && !this.#last)
      view.showInput(flags.message);
    try {
      for await (const event of this.#client.runs.stream(this.#threadId, request, signal)) {
        run.take(event);
        if (print.flags.jsonl) print.json(event);
        else if (!print.flags.json) view.show(event);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      view.end();
    }
    if (signal.aborted) run.status = "interrupted";
    else if (run.status === "running") throw lostStream();
    return runReport(this.#threadId, run);
  }

  /** A thread continues with its own graph unless another is named. */
  async #assistantId(): Promise<string> {
    const { graph, flags } = this.#options;
    const continuesThread = flags.thread !== "new" && graph === undefined;
    const thread = continuesThread ? await foundOnly(this.#client.threads.get(this.#threadId)) : undefined;
    return graphIdOf(thread) ?? this.#client.defaultAssistant();
  }

  /** @throws InvalidRequestError if the graph has none of the input's keys (`invalid_request`) */
  async #checkInput(input: unknown, assistantId: string): Promise<void> {
    this.#inputSchema ??= graphSchema(this.#client, assistantId, "input_schema");
    if (!isRecord(input)) return;
    const isMessage = this.#options.flags.input === undefined || this.#last !== undefined;
    const warning = unknownInput(await this.#inputSchema, input, { isMessage });
    if (warning !== undefined) this.#session.print.warn(warning);
  }

  #exitCodeOf({ error }: RunReport): number {
    const { signal } = this.#options;
    if (signal.aborted) return signalExit(signal);
    return error ? FAILED_EXIT : 0;
  }

  #showValues(outcome: RunReport, found: Parameters<typeof changedValues>[1]): void {
    const { print } = this.#session;
    const { values } = outcome;
    if (print.flags.jsonl) return;
    if (print.flags.json) return print.json(outcome);
    if (this.#showsState) {
      if (values !== null) print.data(escapeControl(JSON.stringify(values, null, 2)));
      return;
    }
    const changed = changedValues(values, found);
    if (changed === undefined) return;
    for (const line of valueTree(changed, { colors: print.colors, width: print.width })) print.data(line);
  }

  /** @param isErrorShown whether the run's error was already printed */
  async #showEnd(outcome: RunReport, ms: number, isErrorShown: boolean): Promise<void> {
    const { print } = this.#session;
    if (print.isJson) return;
    const { dim, red, yellow } = print.noteColors;
    for (const { id, value } of outcome.interrupts) {
      print.note(
        `  ${yellow("waiting")} ${dim(escapeControl(id))}  ${escapeControl(JSON.stringify(value) ?? "")}`,
      );
    }
    if (outcome.error && !isErrorShown)
      print.note(`  ${red("error")}   ${escapeControl(outcome.error.message)}`);
    const tokens = `${reportedTokens(outcome.usage).total_tokens} tokens`;
    const { status, thread_id } = outcome;
    print.note(escapeControl(`  ${status} in ${ms} ms, ${tokens}, thread ${thread_id}`));
    if (!this.#client.keepsThreads || this.#options.flags.interactive) return;
    for (const [index, command] of (await this.#next(outcome)).entries())
      print.note(`  ${index === 0 ? dim("next") : "    "}    ${command}`);
  }

  /** The next commands: after an error, those that find its cause. */
  async #next(outcome: RunReport): Promise<string[]> {
    const { graph, flags } = this.#options;
    const place = { ...this.#session.flags, ...flags };
    if (!outcome.error)
      return [nextCommand(outcome, graph, place, inputFlag((await this.#inputSchema) ?? null))];
    const state = await foundOnly(this.#client.threads.getState(this.#threadId));
    return state ? failedCommands(this.#threadId, stepOf(state), place) : [];
  }
}

function signalExit(signal: AbortSignal): number {
  return SIGNAL_EXITS[String(signal.reason)] ?? FAILED_EXIT;
}

function lostStream(): GraphServeError {
  return new GraphServeError("server_unreachable", "the stream ended before the run finished", {
    hint: "the run may have finished anyway: check its thread",
  });
}
