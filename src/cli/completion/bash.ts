import { allCommands, type CompletionCommand } from "./tree.js";

const words = (list: readonly string[]): string => `'${list.join(" ").replaceAll("'", "'\\''")}'`;

/** A script for bash. File names are what bash itself offers where nothing fits. */
export function bashCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands.slice(1).map(({ place }) => `      '${place}') place='${place}' ;;`);
  const values = commands.flatMap(({ place, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ names, choices }) =>
          `    ${names.map((name) => `'${place} ${name}'`).join("|")}) ${
            choices.length > 0 ? `COMPREPLY=($(compgen -W ${words(choices)} -- "$current")); ` : ""
          }return ;;`,
      ),
  );
  const offers = commands.map((command) => {
    const flags = words(command.options.flatMap(({ names }) => names));
    const names = words([...command.commands.map(({ name }) => name), ...command.choices]);
    return `    '${command.place}') flags=${flags}; names=${names} ;;`;
  });
  return `# bash completion of graph-serve; try it with: source <(graph-serve completion bash)
_graph_serve() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local place='' flags='' names='' index
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
    COMPREPLY=($(compgen -W "$names" -- "$current"))
  fi
}
complete -o default -F _graph_serve graph-serve
`;
}
