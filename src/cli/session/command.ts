/** What every command is made of: how it is run, the end of its help, and the names that it had before. */
import type * as typed from "@commander-js/extra-typings";
import { Option } from "./commander.js";
import type { Session } from "./session.js";

/** The part of commander's command that running it needs. */
export interface CalledCommand {
  optsWithGlobals(): object;
  getOptionValueSource(name: string): string | undefined;
  readonly options: readonly typed.Option[];
  readonly parent: CalledCommand | null;
}

/** Runs what a command does in the session of its global flags; what it resolves to is the exit code. */
export type Runner = (
  command: CalledCommand,
  implementation: (session: Session) => Promise<number>,
) => Promise<void>;

/** The end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}\n`;
}

// Names of the previous release: they still work, are hidden from help, and print a deprecation warning.

const formerCommands = new WeakMap<object, string>();

/** A flag under the name that it had; its value becomes that of the flag `now`, such as `--checkpoint`. */
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

/** A command under the name that it had, below `parent`. */
export function addFormerCommand(parent: typed.Command, name: string, now: string): typed.Command {
  const command = parent.command(name, { hidden: true }).description(`Now graph-serve ${now}.`);
  formerCommands.set(command, now);
  return command;
}

/** A line for each former name that a call has used. */
export function formerNames(command: CalledCommand): string[] {
  const now = formerCommands.get(command);
  const flags = command.options
    .filter((option) => option instanceof FormerOption)
    .filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  return [
    ...(command.parent ? formerNames(command.parent) : []),
    ...(now === undefined ? [] : [`this command is graph-serve ${now} now`]),
    ...flags.map((option) => `${option.long} is ${option.now} now`),
  ];
}
