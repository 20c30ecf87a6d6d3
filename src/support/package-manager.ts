/** The package managers: which one a project has, and what its commands are called. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

interface Commands {
  /** Runs a program of the project. */
  exec: string;
  /** Runs a script of the project. */
  script: string;
  /** Runs a program of a package that is not installed. */
  fetch: string;
  /** Adds a package to the project. */
  add: string;
  /** Installs what the lock file says, and nothing else. */
  ci: string;
  /** Lets a package run the scripts that build it, and runs them. */
  build: string;
  lockFiles: readonly string[];
}

export const MANAGERS: Readonly<Record<PackageManager, Commands>> = {
  npm: {
    exec: "npx",
    script: "npm run",
    fetch: "npx",
    add: "npm install",
    ci: "npm ci",
    build: "npm rebuild",
    lockFiles: ["package-lock.json", "npm-shrinkwrap.json"],
  },
  pnpm: {
    exec: "pnpm exec",
    script: "pnpm",
    fetch: "pnpm dlx",
    add: "pnpm add",
    ci: "pnpm install --frozen-lockfile",
    build: "pnpm approve-builds",
    lockFiles: ["pnpm-lock.yaml"],
  },
  yarn: {
    exec: "yarn",
    script: "yarn",
    fetch: "yarn dlx",
    add: "yarn add",
    ci: "yarn install --frozen-lockfile",
    build: "yarn rebuild",
    lockFiles: ["yarn.lock"],
  },
  bun: {
    exec: "bunx",
    script: "bun run",
    fetch: "bunx",
    add: "bun add",
    ci: "bun install --frozen-lockfile",
    build: "bun pm trust",
    lockFiles: ["bun.lock", "bun.lockb"],
  },
};

type Variables = Readonly<Record<string, string | undefined>>;

/** The package manager that called this process, by its user agent; undefined when none did. */
export function callingManager(env: Variables): PackageManager | undefined {
  return PACKAGE_MANAGERS.find((name) => env.npm_config_user_agent?.startsWith(`${name}/`));
}

/** Its version, where it is the one that called: `10.34.9`. */
export function callingVersion(manager: PackageManager, env: Variables): string | undefined {
  const [, version] =
    new RegExp(`^${manager}/(\\d+\\.\\d+\\.\\d+)`).exec(env.npm_config_user_agent ?? "") ?? [];
  return version;
}

/** The package manager of the project that a folder lies in: by its lock file, else the calling one, else npm. */
export function managerOf(folder: string, env: Variables = process.env): PackageManager {
  return managerByLock(folder) ?? callingManager(env) ?? "npm";
}

function managerByLock(folder: string): PackageManager | undefined {
  const found = PACKAGE_MANAGERS.find((name) =>
    MANAGERS[name].lockFiles.some((file) => existsSync(join(folder, file))),
  );
  const parent = dirname(folder);
  return found ?? (parent === folder ? undefined : managerByLock(parent));
}
