import { allCommands, type CompletionCommand, type CompletionOption } from "./tree.js";

const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

/** A script for fish, to be sourced or put into its folder of completions. */
export function fishCompletion(tree: CompletionCommand): string {
  const commands = allCommands(tree);
  const steps = commands
    .slice(1)
    .flatMap(({ place }) => [`      case ${quoted(place)}`, `        set place ${quoted(place)}`]);
  return `# fish completion of graph-serve; try it with: graph-serve completion fish | source
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
  const start = `complete -c graph-serve -n "__graph_serve_at ${quoted(command.place)}"`;
  return [
    ...command.commands.map(
      ({ name, description }) => `${start} -f -a ${quoted(name)} -d ${quoted(description)}`,
    ),
    ...command.choices.map((choice) => `${start} -f -a ${quoted(choice)}`),
    ...command.options.map((option) => `${start} ${flagOf(option)} -d ${quoted(option.description)}`),
  ];
}

function flagOf({ names, takesValue, choices }: CompletionOption): string {
  const parts = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  if (choices.length > 0) parts.push("-x", `-a ${quoted(choices.join(" "))}`);
  else if (takesValue) parts.push("-r");
  return parts.join(" ");
}
