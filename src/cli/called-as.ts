/**
 * Who called this program, and how: what is shown to be pasted has to begin as the call did. Sources write
 * `graph-serve run ...`; what goes to a person or into a hint passes through `asCalled`.
 */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { CliIo } from "./io.js";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** How a package manager runs programs and scripts of a project, and programs of a package that is not installed. */
export const MANAGERS: Readonly<Record<PackageManager, { exec: string; script: string; fetch: string }>> = {
  npm: { exec: "npx", script: "npm run", fetch: "npx" },
  pnpm: { exec: "pnpm exec", script: "pnpm", fetch: "pnpm dlx" },
  yarn: { exec: "yarn", script: "yarn", fetch: "yarn dlx" },
  bun: { exec: "bunx", script: "bun run", fetch: "bunx" },
};

/** The commands of the program. */
export const COMMAND_NAMES = [
  ...[
    "dev",
    "run",
    "test",
    "init",
    "threads",
    "runs",
    "inspect",
    "history",
    "diff",
    "replay",
    "fork",
    "state",
  ],
  ...["export", "import", "start", "migrate", "recover", "doctor", "graph", "schemas", "validate", "config"],
  ...["openapi", "completion"],
] as const;

type Call = Pick<CliIo, "env" | "program">;

const NAME = "graph-serve";
const FETCHED = /[\\/](dlx[\\/-]|_npx[\\/])/;

/** The package manager that called, by its user agent; undefined when none did. */
export function callingManager({ env }: Pick<Call, "env">): PackageManager | undefined {
  return PACKAGE_MANAGERS.find((name) => env.npm_config_user_agent?.startsWith(`${name}/`));
}

/** What calls the program once more: `npx graph-serve`, `pnpm exec graph-serve`, a script of the project, its name. */
export function callOf(call: Call): string {
  const manager = callingManager(call);
  if (manager === undefined) return isOnPath(call) ? NAME : `${MANAGERS.npm.exec} ${NAME}`;
  const { exec, script, fetch } = MANAGERS[manager];
  const { npm_lifecycle_event: event, npm_lifecycle_script: line } = call.env;
  const isAlias = line === NAME && event !== undefined && ![NAME, "npx", "bunx"].includes(event);
  if (isAlias) return `${script} ${event}${manager === "npm" ? " --" : ""}`;
  return `${FETCHED.test(call.program ?? "") ? fetch : exec} ${NAME}`;
}

/** A program in a project's node_modules is found by its package manager alone. */
function isOnPath({ env, program }: Call): boolean {
  if (program === undefined) return true;
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter(Boolean);
  return folders.some((folder) => [NAME, `${NAME}.cmd`].some((name) => existsSync(join(folder, name))));
}

/** A command that stands by itself, not behind what already calls it. */
const COMMAND = new RegExp(
  `(?<!(?:npx|exec|yarn|bunx|dlx) )\\b${NAME}(?= (?:${COMMAND_NAMES.join("|")}|help|--?[a-z])\\b)`,
  "g",
);

/** The text with its commands as this program was called. */
export function asCalled(text: string, call: Call): string {
  return text.includes(`${NAME} `) ? text.replace(COMMAND, () => callOf(call)) : text;
}
