import { allCommands, type CompletionCommand } from "./tree.js";

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
const described = (name: string, description: string): string =>
  quoted(`${name.replaceAll(":", "\\:")}:${description}`);

/** A script for zsh, to be sourced or put into a folder of $fpath as _graph-serve. */
export function zshCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands.slice(1).map(({ place }) => `      (${quoted(place)}) place=${quoted(place)} ;;`);
  const values = commands.flatMap(({ place, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ names, choices }) =>
          `    (${names.map((name) => quoted(`${place} ${name}`)).join("|")}) ${
            choices.length > 0 ? `compadd -- ${choices.map(quoted).join(" ")}` : "_files"
          }; return ;;`,
      ),
  );
  const offers = commands.map((command) => {
    const flags = command.options.flatMap(({ names, description }) =>
      names.map((name) => described(name, description)),
    );
    const names = [
      ...command.commands.map(({ name, description }) => described(name, description)),
      ...command.choices.map(quoted),
    ];
    return `    (${quoted(command.place)})\n      flags=(${flags.join(" ")})\n      names=(${names.join(" ")}) ;;`;
  });
  return `#compdef graph-serve
# zsh completion of graph-serve; try it with: source <(graph-serve completion zsh)
_graph_serve() {
  local place='' previous="\${words[CURRENT-1]}"
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
