/** The commands and their flags. Each imports its implementation when it is called. */
import { Command, CommanderError, Option } from "@commander-js/extra-typings";
import { nearest } from "../nearest.js";
import { InvalidRequestError } from "../errors.js";
import { VERSION } from "../version.js";
import { addConfigCommand } from "./commands/config.js";
import { addDiffCommand } from "./commands/diff.js";
import { addHistoryCommand } from "./commands/history.js";
import { addInspectCommand } from "./commands/inspect.js";
import { addRunsCommand } from "./commands/runs.js";
import { addThreadsCommand } from "./commands/threads.js";
import { addDevCommand } from "./commands/dev.js";
import { addCompletionCommand } from "./commands/completion.js";
import { addDoctorCommand } from "./commands/doctor.js";
import { addRecoverCommand } from "./commands/recover.js";
import { addGraphCommand } from "./commands/graph.js";
import { addInitCommand } from "./commands/init.js";
import { addMigrateCommand } from "./commands/migrate.js";
import { addOpenapiCommand } from "./commands/openapi.js";
import { addSchemasCommand } from "./commands/schemas.js";
import { addForkCommand, addStateCommand } from "./commands/fork.js";
import { addReplayCommand } from "./commands/replay.js";
import { addTransferCommands } from "./commands/transfer.js";
import { addRunCommand } from "./commands/run.js";
import { addStartCommand } from "./commands/start.js";
import { addTestCommand } from "./commands/test.js";
import { addValidateCommand } from "./commands/validate.js";
import { settingOption } from "./flags.js";
import type { CliIo } from "./io.js";
import { createSession } from "./session.js";
import { examples, type Runner } from "./command.js";

const USAGE_EXIT = 2;
const DEFAULT_WIDTH = 80;

/** Parse the arguments and run what they ask for; returns the exit code. */
export async function runProgram(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode = 0;
  const run: Runner = async (command, implementation) => {
    exitCode = await implementation(createSession(io, command.optsWithGlobals()));
  };
  const program = createProgram(io, run);
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

function createProgram(io: CliIo, run: Runner) {
  const program = new Command("graph-serve")
    .description("Run LangGraph.js graphs behind a LangGraph-compatible HTTP interface.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print the help of a command")
    .helpCommand("help [command]", "print the help of a command")
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns ?? DEFAULT_WIDTH,
      getErrHelpWidth: () => io.stderr.columns ?? DEFAULT_WIDTH,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .option("-c, --config <file>", "configuration file to read instead of searching for one")
    .option("--cwd <dir>", "folder to work in")
    .addOption(settingOption("--env-file <file>", "env"))
    .option("--json", "print one JSON document")
    .option("--jsonl", "print a stream of JSON lines")
    .option("-q, --quiet", "print results and faults only")
    .option("-v, --verbose", "print more, such as the stack of a fault")
    .addOption(settingOption("--log-level <level>", "log_level"))
    .addOption(new Option("--no-color", "print without colours (env NO_COLOR)"))
    .option("-y, --yes", "answer every question with yes")
    .addHelpText("after", examples("graph-serve init my-agent", "graph-serve dev ./graph.ts"));
  addDevCommand(program, run);
  addStartCommand(program, run);
  addRunCommand(program, run);
  addThreadsCommand(program, run);
  addRunsCommand(program, run);
  addInspectCommand(program, run);
  addHistoryCommand(program, run);
  addDiffCommand(program, run);
  addReplayCommand(program, run);
  addForkCommand(program, run);
  addStateCommand(program, run);
  addTransferCommands(program, run);
  addTestCommand(program, run);
  addValidateCommand(program, run);
  addInitCommand(program, run);
  addConfigCommand(program, run);
  addOpenapiCommand(program, run);
  addSchemasCommand(program, run);
  addGraphCommand(program, run);
  addDoctorCommand(program, run);
  addMigrateCommand(program, run);
  addRecoverCommand(program, run);
  addCompletionCommand(program, run);
  return program;
}

interface CommandTree {
  name(): string;
  commands: readonly CommandTree[];
  options: readonly { long?: string; short?: string }[];
  parent: CommandTree | null;
}

/** The command that the arguments name, as far as they do. */
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
