import { bashCompletion } from "../completion/bash.js";
import { fishCompletion } from "../completion/fish.js";
import { completionTree, type CommandLike } from "../completion/tree.js";
import { zshCompletion } from "../completion/zsh.js";
import type { Session } from "../session.js";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
export type Shell = keyof typeof SCRIPTS;

/** `completion`: print the script that completes commands and flags in a shell. */
export async function completion({ print }: Session, shell: Shell, program: CommandLike): Promise<number> {
  const script = SCRIPTS[shell](completionTree(program));
  if (print.flags.json) print.json({ shell, script });
  else print.data(script.trimEnd());
  return 0;
}
