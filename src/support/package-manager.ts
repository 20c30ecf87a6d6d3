/** Detects a project's package manager and names its commands. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export const PACKAGE_MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

interface Commands {
  /** Runs a binary of the project. */
  exec: string;
  script: string;
  /** Runs a binary of a package that is not installed. */
  fetch: string;
  add: string;
  /** Installs exactly the versions of the lock file. */
  ci: string;
  /** Allows and runs the build scripts of a package. */
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

/** The package manager that started this process, by its user agent; undefined if there is none. */
export function callingManager(env: Variables): PackageManager | undefined {
  return PACKAGE_MANAGERS.find((name) => env.npm_config_user_agent?.startsWith(`${name}/`));
}

/** Version of the package manager that started this process, such as `10.34.9`; undefined for any other. */
export function callingVersion(manager: PackageManager, env: Variables): string | undefined {
  const [, version] =
    new RegExp(`^${manager}/(\\d+\\.\\d+\\.\\d+)`).exec(env.npm_config_user_agent ?? "") ?? [];
  return version;
}

/**
 * The package manager of the project that contains a folder: by lock file, then the one that
 * started this process, then npm.
 */
export function managerOf(folder: string): PackageManager {
  return managerByLock(folder) ?? callingManager(process.env) ?? "npm";
}

function managerByLock(folder: string): PackageManager | undefined {
  const found = PACKAGE_MANAGERS.find((name) =>
    MANAGERS[name].lockFiles.some((file) => existsSync(join(folder, file))),
  );
  const parent = dirname(folder);
  return found ?? (parent === folder ? undefined : managerByLock(parent));
}
