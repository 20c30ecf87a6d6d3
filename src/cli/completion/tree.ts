/** The tree of commands and flags for shell completion, and the completion scripts. */
import { STREAM_MODES } from "../../models/run.js";
import { RUN_STATUSES } from "../../models/run-status.js";
import { THREAD_STATUSES } from "../../models/thread-fields.js";
import { REPORTERS } from "../suite/reporters/reporter.js";

/** Values that depend on the project; `graph-serve completion --list KIND` prints them. */
export const LISTED = ["graph", "thread", "run"] as const;
export type Listed = (typeof LISTED)[number];

/** Allowed values of flags that commander does not know the choices of. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  "/threads/list --status": THREAD_STATUSES,
  "/threads/prune --status": THREAD_STATUSES,
  "/runs/list --status": RUN_STATUSES,
  "/run --stream": STREAM_MODES,
  "/test --reporter": REPORTERS,
};
const LISTED_VALUES: Readonly<Record<string, Listed>> = {
  "--thread": "thread",
  "--run": "run",
  "--from-run": "run",
};

const listedBy = (name: string): Listed | undefined => LISTED.find((kind) => kind === name);

interface CompletionOption {
  /** Such as `--format`, `-f`. */
  names: string[];
  description: string;
  takesValue: boolean;
  choices: string[];
  /** Kind of its values, if they depend on the project. */
  listed?: Listed;
}

interface CompletionCommand {
  /** Names of the commands from the program down, joined by "/"; empty for the program. */
  place: string;
  name: string;
  description: string;
  commands: CompletionCommand[];
  options: CompletionOption[];
  /** Allowed values of its argument. */
  choices: string[];
  /** Kind of its first argument, if it depends on the project. */
  listed?: Listed;
}

/** The part of commander's `Command` that is used. */
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
  readonly registeredArguments: readonly { argChoices?: string[]; name(): string }[];
}

const HELP: CompletionOption = {
  names: ["--help", "-h"],
  description: "print the help of a command",
  takesValue: false,
  choices: [],
};

/** The command tree of a program; each command includes the program's flags. */
export function completionTree(program: CommandLike): CompletionCommand {
  return nodeOf(program, "", [HELP]);
}

/** All commands of the tree, starting with the program. */
function allCommands(tree: CompletionCommand): CompletionCommand[] {
  return [tree, ...tree.commands.flatMap(allCommands)];
}

function nodeOf(command: CommandLike, place: string, inherited: CompletionOption[]): CompletionCommand {
  const own = command.options
    .filter(({ hidden }) => !hidden)
    .map(({ long, short, description, required, optional, argChoices }) => ({
      names: [long, short].filter((name) => name !== undefined),
      description: firstLine(description),
      takesValue: required || optional,
      choices: argChoices ?? [...(KNOWN_VALUES[`${place} ${long}`] ?? [])],
      listed: required ? LISTED_VALUES[long ?? ""] : undefined,
    }));
  const options = [...own, ...inherited];
  // Command flags override program flags of the same name; --version exists only on the program.
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
    listed: listedBy(command.registeredArguments[0]?.name() ?? ""),
  };
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

const words = (list: readonly string[]): string => `'${list.join(" ").replaceAll("'", "'\\''")}'`;

/**
 * The shell function that lists completions, without error output. It calls the program of the line, else the one that
 * the project installed: a function `graph-serve` for `npx graph-serve` is not a program.
 * @param lookUp the shell's command that fails unless its argument is a program
 */
const listFunction = (lookUp: string): string => `_graph_serve_list() {
  local program="$1" folder="$PWD"
  if ! ${lookUp} "$program" >/dev/null; then
    while [[ -n "$folder" && ! -x "$folder/node_modules/.bin/graph-serve" ]]; do folder="\${folder%/*}"; done
    program="$folder/node_modules/.bin/graph-serve"
  fi
  "$program" completion --list "$2" 2>/dev/null
}`;

/** What the scripts complete, as comments. */
const notNpx = (
  shell: string,
  load: string,
  alias: string,
): string => `# ${shell} completion of graph-serve; try it with: ${load}
# It completes graph-serve, not npx graph-serve. Without a global installation, define: ${alias}`;

const SH_FUNCTION = 'graph-serve() { npx graph-serve "$@"; }';

/** A bash script. Without matches, bash itself offers file names. */
export function bashCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands.slice(1).map(({ place }) => `      '${place}') place='${place}' ;;`);
  const values = commands.flatMap(({ place, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ names, choices, listed }) =>
          `    ${names.map((name) => `'${place} ${name}'`).join("|")}) ${
            choices.length > 0
              ? `COMPREPLY=($(compgen -W ${words(choices)} -- "$current")); `
              : listed === undefined
                ? ""
                : `COMPREPLY=($(compgen -W "$(_graph_serve_list "\${COMP_WORDS[0]}" ${listed})" -- "$current")); `
          }return ;;`,
      ),
  );
  const offers = commands.map((command) => {
    const flags = words(command.options.flatMap(({ names }) => names));
    const names = words([...command.commands.map(({ name }) => name), ...command.choices]);
    const list = command.listed === undefined ? "" : `; listed=${command.listed}`;
    return `    '${command.place}') flags=${flags}; names=${names}${list} ;;`;
  });
  return `${notNpx("bash", "source <(graph-serve completion bash)", SH_FUNCTION)}
${listFunction("type -P")}
_graph_serve() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local place='' flags='' names='' listed='' index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$place/\${COMP_WORDS[index]}" in
${steps.join("\n")}
    esac
  done
  case "$place $previous" in
${values.join("\n")}
  esac
  case "$place" in
${offers.join("\n")}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    [[ -n "$listed" ]] && names="$names $(_graph_serve_list "\${COMP_WORDS[0]}" "$listed")"
    COMPREPLY=($(compgen -W "$names" -- "$current"))
  fi
}
complete -o default -F _graph_serve graph-serve
`;
}

const quotedForFish = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** A fish script, to be sourced or placed in the completions folder. */
export function fishCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands
    .slice(1)
    .flatMap(({ place }) => [
      `      case ${quotedForFish(place)}`,
      `        set place ${quotedForFish(place)}`,
    ]);
  return `${notNpx("fish", "graph-serve completion fish | source", "function graph-serve; npx graph-serve $argv; end")}
function __graph_serve_list
  set -l program graph-serve
  set -l folder $PWD
  if not command -q graph-serve
    while test -n "$folder" -a ! -x "$folder/node_modules/.bin/graph-serve"
      set folder (string replace -r '/[^/]*$' '' -- $folder)
    end
    set program "$folder/node_modules/.bin/graph-serve"
  end
  command $program completion --list $argv[1] 2>/dev/null
end
function __graph_serve_at
  set -l place ''
  set -l words (commandline -opc)
  for word in $words[2..-1]
    switch "$place/$word"
${steps.join("\n")}
    end
  end
  test "$place" = "$argv[1]"
end
complete -c graph-serve -e
${commands.flatMap(linesOf).join("\n")}
`;
}

function linesOf(command: CompletionCommand): string[] {
  const start = `complete -c graph-serve -n "__graph_serve_at ${quotedForFish(command.place)}"`;
  return [
    ...command.commands.map(
      ({ name, description }) => `${start} -f -a ${quotedForFish(name)} -d ${quotedForFish(description)}`,
    ),
    ...command.choices.map((choice) => `${start} -f -a ${quotedForFish(choice)}`),
    ...(command.listed === undefined ? [] : [`${start} -a "(__graph_serve_list ${command.listed})"`]),
    ...command.options.map((option) => `${start} ${flagOf(option)} -d ${quotedForFish(option.description)}`),
  ];
}

function flagOf({ names, takesValue, choices, listed }: CompletionOption): string {
  const parts = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  if (choices.length > 0) parts.push("-x", `-a ${quotedForFish(choices.join(" "))}`);
  else if (listed !== undefined) parts.push("-x", `-a "(__graph_serve_list ${listed})"`);
  else if (takesValue) parts.push("-r");
  return parts.join(" ");
}

const quotedForZsh = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const described = (name: string, description: string): string =>
  quotedForZsh(`${name.replaceAll(":", "\\:")}:${description}`);

function valuesForZsh({ choices, listed }: CompletionOption): string {
  if (choices.length > 0) return `compadd -- ${choices.map(quotedForZsh).join(" ")}`;
  return listed === undefined
    ? "_files"
    : `compadd -- \${(f)"$(_graph_serve_list "\${words[1]}" ${listed})"}`;
}

/** A zsh script, to be sourced or placed in a folder of $fpath as _graph-serve. */
export function zshCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands
    .slice(1)
    .map(({ place }) => `      (${quotedForZsh(place)}) place=${quotedForZsh(place)} ;;`);
  const values = commands.flatMap(({ place, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        (option) =>
          `    (${option.names.map((name) => quotedForZsh(`${place} ${name}`)).join("|")}) ${valuesForZsh(option)}; return ;;`,
      ),
  );
  const offers = commands.map((command) => {
    const flags = command.options.flatMap(({ names, description }) =>
      names.map((name) => described(name, description)),
    );
    const names = [
      ...command.commands.map(({ name, description }) => described(name, description)),
      ...command.choices.map(quotedForZsh),
    ];
    return `    (${quotedForZsh(command.place)})\n      flags=(${flags.join(" ")})\n      names=(${names.join(" ")})${command.listed === undefined ? "" : `; listed=${command.listed}`} ;;`;
  });
  return `#compdef graph-serve
${notNpx("zsh", "source <(graph-serve completion zsh)", SH_FUNCTION)}
${listFunction("whence -p")}
_graph_serve() {
  local place='' listed='' previous="\${words[CURRENT-1]}"
  local -a flags names
  local -i index
  for (( index = 2; index < CURRENT; index++ )); do
    case "$place/\${words[index]}" in
${steps.join("\n")}
    esac
  done
  case "$place $previous" in
${values.join("\n")}
  esac
  case "$place" in
${offers.join("\n")}
  esac
  if [[ "\${words[CURRENT]}" == -* ]]; then
    _describe -o 'flag' flags
  else
    (( $#names )) && _describe 'command' names
    [[ -n "$listed" ]] && compadd -- \${(f)"$(_graph_serve_list "\${words[1]}" "$listed")"}
    _files
  fi
}
if [[ "\${funcstack[1]}" == "_graph_serve" ]]; then
  _graph_serve "$@"
else
  compdef _graph_serve graph-serve
fi
`;
}
