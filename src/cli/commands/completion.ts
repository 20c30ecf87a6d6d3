import { Argument } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import type { CommandLike } from "../completion/tree.js";

export function addCompletionCommand(program: Parent & CommandLike, run: Runner): void {
  program
    .command("completion")
    .description("Print a script that completes commands and flags in a shell.")
    .addArgument(new Argument("<shell>", "the shell").choices(["bash", "zsh", "fish"] as const))
    .addHelpText(
      "after",
      examples(
        "graph-serve completion bash > graph-serve.bash",
        "graph-serve completion zsh > _graph-serve",
        "graph-serve completion fish > graph-serve.fish",
      ),
    )
    .action((shell, _options, command) =>
      run(command, async (session) =>
        (await import("../actions/completion.js")).completion(session, shell, program),
      ),
    );
}
