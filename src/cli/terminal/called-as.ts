/**
 * Rewrites suggested commands to start the way this program was called, so that they can be pasted. Sources contain
 * `graph-serve run ...`; output for users and hints pass through `asCalled`.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { callingManager, MANAGERS } from "../../support/package-manager.js";
import type { CliIo } from "./io.js";

/** The commands of the program. */
export const COMMAND_NAMES = [
  ...[
    "demo",
    "dev",
    "run",
    "test",
    "init",
    "threads",
    "runs",
    "assistants",
    "crons",
    "webhooks",
    "inspect",
    "trace",
    "usage",
    "studio",
    "history",
    "diff",
    "replay",
    "fork",
    "state",
  ],
  ...[
    "export",
    "import",
    "start",
    "worker",
    "mcp",
    "dockerfile",
    "migrate",
    "recover",
    "doctor",
    "versions",
    "shadow",
    "graph",
    "schemas",
    "validate",
    "config",
  ],
  ...["openapi", "completion"],
] as const;

type Call = Pick<CliIo, "env" | "program">;

const NAME = "graph-serve";
const FETCHED = /[\\/](dlx[\\/-]|_npx[\\/])/;

/** The command prefix: `npx graph-serve`, `pnpm exec graph-serve`, a project script, or the program name. */
function callOf(call: Call): string {
  const manager = callingManager(call.env);
  if (manager === undefined) return isOnPath(call) ? NAME : `${MANAGERS.npm.exec} ${NAME}`;
  const { exec, script, fetch } = MANAGERS[manager];
  const { npm_lifecycle_event: event, npm_lifecycle_script: line } = call.env;
  const isAlias = line === NAME && event !== undefined && ![NAME, "npx", "bunx"].includes(event);
  if (isAlias) return `${script} ${event}${manager === "npm" ? " --" : ""}`;
  return `${FETCHED.test(call.program ?? "") ? fetch : exec} ${NAME}`;
}

/** A program in a project's node_modules can be run only through its package manager. */
function isOnPath({ env, program }: Call): boolean {
  if (program === undefined) return true;
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(Boolean);
  return folders.some((folder) => [NAME, `${NAME}.cmd`].some((name) => existsSync(join(folder, name))));
}

/** Matches a command without a package manager prefix. A help text may continue it on the next line. */
const COMMAND = new RegExp(
  `(?<!(?:npx|exec|yarn|bunx|dlx) )\\b${NAME}(?=(?: |\\n +)(?:--?[a-z]|(?:${COMMAND_NAMES.join("|")}|help)\\b|\\[options\\]))`,
  "g",
);

/** Replaces the commands in a text by the way this program was called. */
export function withCommandPrefix(text: string, call: Call): string {
  return text.includes(NAME) ? text.replace(COMMAND, () => callOf(call)) : text;
}
