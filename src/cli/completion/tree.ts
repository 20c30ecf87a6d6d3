/** The commands and flags of the program, as far as completion needs them. */
export interface CompletionOption {
  /** `--format`, `-f`. */
  names: string[];
  description: string;
  takesValue: boolean;
  choices: string[];
}

export interface CompletionCommand {
  /** Names from the program down, joined with "/"; empty for the program. */
  place: string;
  name: string;
  description: string;
  commands: CompletionCommand[];
  options: CompletionOption[];
  /** Values that its argument may have. */
  choices: string[];
}

/** The part of commander's command that is read. */
export interface CommandLike {
  name(): string;
  aliases(): string[];
  description(): string;
  readonly commands: readonly CommandLike[];
  readonly options: readonly {
    long?: string;
    short?: string;
    description: string;
    required: boolean;
    optional: boolean;
    argChoices?: string[];
    hidden: boolean;
  }[];
  readonly registeredArguments: readonly { argChoices?: string[] }[];
}

const HELP: CompletionOption = {
  names: ["--help", "-h"],
  description: "print the help of a command",
  takesValue: false,
  choices: [],
};

/** The tree below a program; each command has the program's flags too. */
export function completionTree(program: CommandLike): CompletionCommand {
  return nodeOf(program, "", [HELP]);
}

/** Every command of the tree, the program first. */
export function allCommands(tree: CompletionCommand): CompletionCommand[] {
  return [tree, ...tree.commands.flatMap(allCommands)];
}

function nodeOf(command: CommandLike, place: string, inherited: CompletionOption[]): CompletionCommand {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description, required, optional, argChoices }) => ({
      names: [long, short].filter((name) => name !== undefined),
      description: firstLine(description),
      takesValue: required || optional,
      choices: argChoices ?? [],
    }));
  const options = [...own, ...inherited];
  // A flag of the command hides the program's of the same name; the version is the program's alone.
  const passedOn = options.filter(({ names }) => !names.includes("--version"));
  return {
    place,
    name: command.name(),
    description: firstLine(command.description()),
    commands: command.commands.flatMap((child) =>
      [child.name(), ...child.aliases()].map((name) => ({
        ...nodeOf(child, `${place}/${name}`, passedOn),
        name,
      })),
    ),
    options,
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
