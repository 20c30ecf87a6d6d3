/** Adapts the files of a template to the project's package manager. */
import { MANAGERS, type PackageManager } from "../../support/package-manager.js";
import type { ProjectFile } from "./files.js";

/** Packages whose build scripts must run; package managers run only listed ones. */
const BUILT = ["better-sqlite3"];

interface Manifest {
  packageManager?: string;
  overrides?: Record<string, string>;
  [field: string]: unknown;
}

/** Writes `version` if it is known, because corepack and CI need it. */
export function filesFor(
  files: readonly ProjectFile[],
  manager: PackageManager,
  version?: string,
): ProjectFile[] {
  if (manager === "npm") return [...files];
  const made = files.map(({ path, content }) => {
    if (path === "package.json") {
      const manifest = manifestFor(JSON.parse(content) as Manifest, manager, version);
      return { path, content: `${JSON.stringify(manifest, null, 2)}\n` };
    }
    return {
      path,
      content: path.endsWith(".yml")
        ? workflowFor(content, manager, version)
        : withCommandsOf(content, manager),
    };
  });
  const manifest = files.find(({ path }) => path === "package.json");
  const { overrides = {} } = JSON.parse(manifest?.content ?? "{}") as Manifest;
  return [...made, ...settingsOf(manager, overrides)];
}

function manifestFor(
  { overrides, ...manifest }: Manifest,
  manager: PackageManager,
  version: string | undefined,
): Manifest {
  const pinned = version === undefined ? manifest : { ...manifest, packageManager: `${manager}@${version}` };
  if (manager === "bun") return { ...pinned, overrides, trustedDependencies: BUILT };
  if (manager !== "yarn") return pinned;
  const dependenciesMeta = Object.fromEntries(BUILT.map((name) => [name, { built: true }]));
  return { ...pinned, resolutions: overrides, dependenciesMeta };
}

/** Settings files of the package manager. pnpm 10 and later releases use different names for the same setting. */
function settingsOf(manager: PackageManager, overrides: Record<string, string>): ProjectFile[] {
  const lines = (entries: readonly string[]) => entries.map((entry) => `  ${entry}\n`).join("");
  if (manager === "yarn") return [{ path: ".yarnrc.yml", content: "nodeLinker: node-modules\n" }];
  if (manager !== "pnpm") return [];
  const content = [
    `packages:\n${lines(['- "."'])}`,
    `onlyBuiltDependencies:\n${lines(BUILT.map((name) => `- ${name}`))}`,
    `allowBuilds:\n${lines(BUILT.map((name) => `${name}: true`))}`,
    `overrides:\n${lines(Object.entries(overrides).map(([name, range]) => `"${name}": ${range}`))}`,
  ].join("");
  return [{ path: "pnpm-workspace.yaml", content }];
}

/** Replaces npm commands in a text by those of another package manager. */
function withCommandsOf(text: string, manager: PackageManager): string {
  const { exec, script, add, ci } = MANAGERS[manager];
  return text
    .replace(/\bnpx (?=graph-serve)/g, () => `${exec} `)
    .replace(/\bnpm run /g, () => `${script} `)
    .replace(/\bnpm test\b/g, () => `${script} test`)
    .replace(/\bnpm ci\b/g, () => ci)
    .replace(/\bnpm install(?= @)/g, () => add)
    .replace(/\bnpm install\b/g, () => `${manager} install`);
}

function workflowFor(text: string, manager: PackageManager, version: string | undefined): string {
  const before = {
    pnpm: `      - uses: pnpm/action-setup@v4\n${version === undefined ? "        with:\n          version: latest\n" : ""}`,
    yarn: "      - run: corepack enable\n",
    bun: "      - uses: oven-sh/setup-bun@v2\n",
    npm: "",
  }[manager];
  return withCommandsOf(text, manager)
    .replace("      - uses: actions/setup-node", (step) => before + step)
    .replace(/ +cache: npm\n/, (line) => (manager === "bun" ? "" : line.replace("npm", manager)));
}
