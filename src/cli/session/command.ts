/** Shared parts of all commands: the runner, help examples, and deprecated names. */
import type * as typed from "@commander-js/extra-typings";
import { Option } from "./commander.js";
import type { Session } from "./session.js";

/** The part of commander's `Command` that a runner needs. */
export interface CalledCommand {
  optsWithGlobals(): object;
  getOptionValueSource(name: string): string | undefined;
  readonly options: readonly typed.Option[];
  readonly parent: CalledCommand | null;
}

/** Runs an action in a session with the command's global flags; the action resolves to the exit code. */
export type Runner = (
  command: CalledCommand,
  implementation: (session: Session) => Promise<number>,
) => Promise<void>;

/** The examples section of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

// Names of the previous release: they still work, are hidden from help, and print a deprecation warning.

const formerCommands = new WeakMap<object, string>();

/** A deprecated flag; its value is assigned to the flag `now`, such as `--checkpoint`. */
class FormerOption extends Option<string> {
  readonly now: string;

  constructor(flags: string, now: string) {
    super(flags);
    this.now = now;
    this.hideHelp();
  }
}

export function addFormerFlag<
  Args extends unknown[],
  Flags extends typed.OptionValues,
  Globals extends typed.OptionValues,
>(
  command: typed.Command<Args, Flags, Globals>,
  flags: string,
  now: string,
): typed.Command<Args, Flags, Globals> {
  const option = new FormerOption(flags, now);
  command.addOption(option);
  command.on(`option:${option.name()}`, (value: string) =>
    command.setOptionValueWithSource(now.replace(/^--/, ""), value, "cli"),
  );
  return command;
}

/** Adds a deprecated command name under `parent`. */
export function addFormerCommand(parent: typed.Command, name: string, now: string): typed.Command {
  const command = parent.command(name, { hidden: true }).description(`Now graph-serve ${now}.`);
  formerCommands.set(command, now);
  return command;
}

/** One deprecation line for each deprecated name that the call used. */
export function formerNames(command: CalledCommand): string[] {
  const now = formerCommands.get(command);
  const flags = command.options
    .filter((option) => option instanceof FormerOption)
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  return [
    ...(command.parent ? formerNames(command.parent) : []),
    ...(now === undefined ? [] : [`this command was renamed to graph-serve ${now}`]),
    ...flags.map((option) => `${option.long} was renamed to ${option.now}`),
  ];
}
