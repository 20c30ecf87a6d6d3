/** The program: global flags, commands, and the errors for arguments that cannot be parsed. */
import type { Command as TypedCommand } from "@commander-js/extra-typings";
import { CommanderError } from "commander";
import { nearest } from "../support/nearest.js";
import { GraphServeError, InvalidRequestError } from "../support/errors.js";
import { currentRun } from "../support/event-loop.js";
import { guardExit, type ProcessExit, watchLongLoads } from "../support/graph-code.js";
import { VERSION } from "../support/own-package.js";
import { settingOption } from "./session/options.js";
import { withCommandPrefix } from "./terminal/called-as.js";
import { type CliIo, columnsOf, endProcess } from "./terminal/io.js";
import { meantCommand } from "./terminal/meant.js";
import { errorText, reportError, shortPath } from "./session/report-error.js";
import { createSession, type Session, type UnhandledErrors } from "./session/session.js";
import { addFormerCommand, addFormerFlag, examples, formerNames, type Runner } from "./session/command.js";
import { Command, Option } from "./session/commander.js";
import { COMMAND_GROUPS, type CommandEntry, FORMER_COMMANDS } from "./commands.js";

const USAGE_EXIT = 2;
const FAILED_EXIT = 1;

/** Parses the arguments and runs the command; returns the exit code. */
export async function runProgram(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const run: Runner = async (command, implementation) => {
    const session = createSession(io, command.optsWithGlobals());
    for (const line of formerNames(command)) session.print.note(`note  ${line}`);
    const noteLoad = (message: string) => session.print.note(message);
    const stopWatching = watchLongLoads((message) => (session.longLoad ?? noteLoad)(message));
    exitCode = await watchUnhandled(session, () => implementation(session)).finally(stopWatching);
  };
  const program = await createProgram(argv, io, run);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (error.code === "commander.help") return USAGE_EXIT;
    throw usageError(error, commandOf(program, argv));
  }
}

/** The help lists every command; flags and actions are loaded only for the commands that `argv` names. */
async function createProgram(argv: readonly string[], io: CliIo, run: Runner): Promise<TypedCommand> {
  const called = namesIn(argv, io);
  const program = bareProgram(io);
  for (const [heading, entries] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(`${heading}:`);
    for (const entry of entries) await addCommand(program, entry, isNeeded(entry, called) ? run : undefined);
  }
  for (const { name, now, load } of FORMER_COMMANDS) {
    const command = addFormerCommand(program, name, now);
    if (called[0] === name) (await load())(command, run);
  }
  return program.commandsGroup("Help:");
}

/** The arguments other than global flags; the first one is the command name. */
function namesIn(argv: readonly string[], io: CliIo): string[] {
  return bareProgram(io).parseOptions([...argv]).operands;
}

/** `help NAME` also shows the flags of a command, and a completion script contains those of all commands. */
function isNeeded({ name, alias }: CommandEntry, [first, second]: readonly string[]): boolean {
  // Only the script contains all flags; `completion --list` needs none.
  if (first === "completion" && second !== undefined) return true;
  const called = first === "help" ? second : first;
  return called !== undefined && (called === name || called === alias);
}

async function addCommand(
  program: TypedCommand,
  { name, alias, summary, load }: CommandEntry,
  run: Runner | undefined,
): Promise<void> {
  const command = program
    .command(name)
    .description(summary)
    .helpOption("-h, --help", "print this help; for global options such as --json: graph-serve --help");
  if (alias !== undefined) command.alias(alias);
  if (run) (await load())(command, run);
}

/** The program without commands. */
function bareProgram(io: CliIo): TypedCommand {
  const program = new Command("graph-serve")
    .description("Serve LangGraph.js graphs over the LangGraph API, and debug every run afterwards.")
    .version(VERSION, "-V, --version", "print the version; with --json, also the version of the JSON output")
    .helpOption("-h, --help", "print the help of a command")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(withCommandPrefix(text, io)),
      writeErr: (text) => io.stderr.write(withCommandPrefix(text, io)),
      outputError: () => undefined,
      getOutHelpWidth: () => columnsOf(io.stdout),
      getErrHelpWidth: () => columnsOf(io.stderr),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .option("-c, --config <file>", "path of the configuration file (default: search for one)")
    .option("--cwd <dir>", "working directory")
    .addOption(settingOption("--env <file>", "env"))
    .option("--json", "print one JSON document")
    .option("--jsonl", "print a stream of JSON lines")
    .option("-q, --quiet", "print only results and errors")
    .option("-v, --verbose", "print more detail, such as stack traces, or each request in dev")
    .addOption(settingOption("--log-level <level>", "log_level"))
    .addOption(new Option("--no-color", "disable colors (env NO_COLOR)"))
    .option("-y, --yes", "answer yes to every prompt")
    .addHelpText("after", examples("graph-serve init my-agent", "graph-serve dev ./graph.ts"));
  // Node reads `--env-file` itself, wherever it appears in the arguments.
  addFormerFlag(program, "--env-file <file>", "--env");
  return program;
}

interface CommandTree {
  name(): string;
  commands: readonly CommandTree[];
  options: readonly { long?: string; short?: string }[];
  parent: CommandTree | null;
}

/** The most specific command that the arguments name. */
function commandOf(program: CommandTree, argv: readonly string[]): CommandTree {
  return argv.reduce(
    (current, argument) => current.commands.find((command) => command.name() === argument) ?? current,
    program,
  );
}

function usageError(error: CommanderError, command: CommandTree): InvalidRequestError {
  const message = error.message.replace(/^error: /, "").replaceAll("'", '"');
  const word = /"([^"]+)"/.exec(message)?.[1] ?? "";
  const known = error.code === "commander.unknownCommand" ? commandNames(command) : optionNames(command);
  const isUnknown = error.code === "commander.unknownCommand" || error.code === "commander.unknownOption";
  const group = pathOf(command);
  const meant = error.code === "commander.unknownCommand" ? meantCommand(group, word, known) : undefined;
  if (meant !== undefined) {
    const hint = `did you mean graph-serve ${meant}? (graph-serve ${meant.replace(/ --.*/, "")} --help)`;
    return new InvalidRequestError(message, undefined, { hint });
  }
  const similar = isUnknown ? nearest(word.replace(/=.*/, ""), known) : undefined;
  const help = `graph-serve ${[...pathOf(command), "--help"].join(" ")}`;
  return new InvalidRequestError(message, undefined, {
    hint: similar === undefined ? `see ${help}` : `did you mean ${similar}? (${help})`,
  });
}

const commandNames = (command: CommandTree): string[] => command.commands.map((each) => each.name());

function optionNames(command: CommandTree): string[] {
  const own = command.options.flatMap(({ long }) => (long === undefined ? [] : [long]));
  return command.parent ? [...own, ...optionNames(command.parent)] : [...own, "--help"];
}

function pathOf(command: CommandTree): string[] {
  return command.parent ? [...pathOf(command.parent), command.name()] : [];
}

// Unhandled errors: from promises that are never awaited, timers and callbacks.

/**
 * Runs the work of a command. An unhandled error fails the run that caused it. If it belongs to no active run, it is
 * printed and the command fails. Handlers in `session.unhandled` replace this behavior.
 */
async function watchUnhandled(session: Session, work: () => Promise<number>): Promise<number> {
  const { io, print } = session;
  const reports: Promise<void>[] = [];
  const rejection = (error: unknown) => {
    const run = currentRun();
    if (run?.fail) return run.fail(error);
    // The command continues, and prints its own JSON.
    const options = { colors: print.noteColors, io, verbose: print.flags.verbose };
    reports.push(unhandledError(error).then((shown) => void io.stderr.write(errorText(shown, options))));
  };
  const exception = (error: unknown) => {
    const run = currentRun();
    if (run?.fail) return run.fail(error);
    // Other code may wait forever for the interrupted work.
    reports.push(unhandledError(error).then((shown) => endProcess(reportError(shown, io, print.flags))));
  };
  const stopListening = listen(io, {
    rejection: (error) => (session.unhandled?.rejection ?? rejection)(error),
    exception: (error) => (session.unhandled?.exception ?? exception)(error),
    exit: (error) => (session.unhandled?.exit ?? exitWarning(session))(error),
  });
  try {
    const exitCode = await work();
    return exitCode === 0 && reports.length > 0 ? FAILED_EXIT : exitCode;
  } finally {
    await Promise.all(reports);
    stopListening();
  }
}

function listen(io: CliIo, { rejection, exception, exit }: Required<UnhandledErrors>): () => void {
  // A signal is passed only by tests, which own the process.
  if (io.signal) return () => undefined;
  process.on("unhandledRejection", rejection).on("uncaughtException", exception);
  const release = guardExit(exit);
  return () => {
    release();
    process.off("unhandledRejection", rejection).off("uncaughtException", exception);
  };
}

const exitWarning =
  ({ io, print }: Session) =>
  ({ message, place }: ProcessExit): void =>
    print.warn(`${place === undefined ? "" : `${shortPath(place, io.cwd)}: `}${message}`);

/** The error to report, with the line of user code that threw it. Never rejects. */
async function unhandledError(thrown: unknown): Promise<GraphServeError> {
  const { runFault } = await import("../service/find-graphs.js");
  const { name, message, location } = await runFault(thrown);
  return new GraphServeError("run_failed", `unhandled error\n${name}: ${message}`, {
    cause: thrown,
    location,
  });
}
