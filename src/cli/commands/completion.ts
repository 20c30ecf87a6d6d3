import type { Command } from "@commander-js/extra-typings";
import { Argument, Option } from "../session/commander.js";
import { walkThreads } from "../../client/walk.js";
import { InvalidRequestError } from "../../support/errors.js";
import { examples, type Runner } from "../session/command.js";
import {
  bashCompletion,
  type CommandLike,
  completionTree,
  fishCompletion,
  LISTED,
  type Listed,
  zshCompletion,
} from "../completion/tree.js";
import { withRows } from "../session/open-client.js";
import { loadSettings, type Session } from "../session/session.js";
import { Printer } from "../terminal/print.js";

export function completionCommand(command: Command, run: Runner): void {
  command
    .addArgument(new Argument("[shell]", "the shell").choices(["bash", "zsh", "fish"] as const))
    .addOption(new Option("--list <kind>", "print what completes").choices(LISTED).hideHelp())
    .addHelpText(
      "after",
      NOT_NPX +
        examples(
          "graph-serve completion bash > graph-serve.bash",
          "graph-serve completion zsh > _graph-serve",
          "graph-serve completion fish > graph-serve.fish",
        ),
    )
    .action((shell, { list: kind }) =>
      run(command, async (session) => {
        if (kind !== undefined) return list(session, kind);
        if (shell !== undefined) return completion(session, shell, command.parent);
        throw new InvalidRequestError("missing argument: the shell", undefined, {
          hint: "graph-serve completion bash",
        });
      }),
    );
}

const NOT_NPX = `
Completes graph-serve, not npx graph-serve. If only the project has it, define:
  bash, zsh   graph-serve() { npx graph-serve "$@"; }
  fish        function graph-serve; npx graph-serve $argv; end
`;

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SCRIPTS;

/** `completion`: print the script that completes commands and flags in a shell. */
async function completion({ print }: Session, shell: Shell, program: CommandLike | null): Promise<number> {
  const script = SCRIPTS[shell](completionTree(program as CommandLike));
  if (print.flags.json) print.json({ shell, script });
  else print.data(script.trimEnd());
  return 0;
}

/** Maximum number of threads or runs offered, newest first. */
const MOST = 50;

/** Shells expand completions, so words from the project must not contain shell metacharacters. */
const PLAIN_WORD = /^[\w.:@/+-]+$/;

/** Prints one completion per line. Errors are not printed, because they would disturb the command line. */
async function list(session: Session, kind: Listed): Promise<number> {
  const print = new Printer({ ...session.io, stderr: { write: () => true } }, { quiet: true });
  const quiet = { ...session, print };
  const words = await (kind === "graph" ? graphKeys(quiet) : storedIds(quiet, kind)).catch(() => []);
  for (const word of words) if (PLAIN_WORD.test(word)) session.print.data(word);
  return 0;
}

async function graphKeys(session: Session): Promise<string[]> {
  const { settings } = await loadSettings(session, { warn: () => undefined });
  return Object.keys(settings.graphs);
}

async function storedIds(session: Session, kind: "thread" | "run"): Promise<string[]> {
  const ids: string[] = [];
  await withRows(session, {}, async (client) => {
    for await (const { thread_id = "" } of walkThreads(client, { limit: MOST })) {
      if (kind === "thread") ids.push(thread_id);
      else for (const { run_id } of await client.runs.list(thread_id, { limit: MOST })) ids.push(run_id);
      if (ids.length >= MOST) break;
    }
  });
  return ids.slice(0, MOST);
}
