import { type Command, Argument } from "@commander-js/extra-typings";
import { examples, type Runner } from "../command.js";
import {
  bashCompletion,
  type CommandLike,
  completionTree,
  fishCompletion,
  zshCompletion,
} from "../completion/tree.js";
import type { Session } from "../session.js";

export function completionCommand(command: Command, run: Runner): void {
  command
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"] as const))
    .addHelpText(
      "after",
      examples(
        "graph-serve completion bash > graph-serve.bash",
        "graph-serve completion zsh > _graph-serve",
        "graph-serve completion fish > graph-serve.fish",
      ),
    )
    .action((shell) => run(command, async (session) => completion(session, shell, command.parent)));
}

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SCRIPTS;

/** `completion`: print the script that completes commands and flags in a shell. */
async function completion({ print }: Session, shell: Shell, program: CommandLike | null): Promise<number> {
  const script = SCRIPTS[shell](completionTree(program as CommandLike));
  if (print.flags.json) print.json({ shell, script });
  else print.data(script.trimEnd());
  return 0;
}
