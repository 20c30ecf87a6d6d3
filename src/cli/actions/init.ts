import { basename, relative, resolve } from "node:path";
import { ConfigError } from "../../errors.js";
import { PACKAGE_MANAGERS, type PackageManager, type Template } from "../init/choices.js";
import { configFiles, templateFiles, type ProjectFile } from "../init/files.js";
import { existingFiles, writeFiles } from "../init/write.js";
import type { Session } from "../session.js";

export interface InitFlags {
  template?: Template;
  pm?: PackageManager;
  configOnly?: boolean;
  force?: boolean;
}

const MOST_NAMES = 3;

/** `init`: copy a template into a folder, or only make a configuration there. */
export async function init(session: Session, dir: string, flags: InitFlags): Promise<number> {
  const { io, print } = session;
  const folder = resolve(io.cwd, dir);
  const template = flags.configOnly ? undefined : (flags.template ?? (await chooseTemplate(session)));
  const files =
    template === undefined ? await configFiles(folder) : await templateFiles(template, basename(folder));
  const taken = await existingFiles(folder, files);
  if (taken.length > 0 && !flags.force) throw wouldOverwrite(taken);
  await writeFiles(folder, files);
  const next = nextCommands(session, folder, flags);
  const paths = files.map(({ path }) => path);
  if (print.flags.json) print.json({ dir: folder, template: template ?? null, files: paths, next });
  else describe(session, folder, paths, next);
  return 0;
}

async function chooseTemplate({ io, print, flags }: Session): Promise<Template> {
  if (!io.stdin.isTTY || !print.isWatched || flags.yes || flags.json) return "chat";
  const { askTemplate } = await import("../init/ask.js");
  return askTemplate();
}

function wouldOverwrite(taken: ProjectFile[]): ConfigError {
  const names = taken.slice(0, MOST_NAMES).map(({ path }) => path);
  const more = taken.length > MOST_NAMES ? ` and ${taken.length - MOST_NAMES} more` : "";
  return new ConfigError(`there is already ${names.join(", ")}${more}`, {
    hint: "name another folder, or write over them with --force",
  });
}

function nextCommands({ io }: Session, folder: string, { pm, configOnly }: InitFlags): string[] {
  const manager = pm ?? managerOf(io.env.npm_config_user_agent);
  const execute = { npm: "npx", pnpm: "pnpm exec", yarn: "yarn", bun: "bunx" }[manager];
  const run = manager === "npm" ? "npm run" : manager === "bun" ? "bun run" : manager;
  if (configOnly) {
    return ["validate", "dev", 'run --message "hello"'].map((command) => `${execute} graph-serve ${command}`);
  }
  const place = relative(io.cwd, folder);
  const enter = place === "" ? [] : [`cd ${/\s/.test(place) ? JSON.stringify(place) : place}`];
  const talk = place === "" ? [`${execute} graph-serve run --message "hello"`] : [];
  return [...enter, `${manager} install`, `${run} dev`, ...talk];
}

/** The package manager that called us, from its user agent. */
function managerOf(agent: string | undefined): PackageManager {
  return PACKAGE_MANAGERS.find((name) => agent?.startsWith(`${name}/`)) ?? "npm";
}

function describe({ io, print }: Session, folder: string, paths: string[], next: string[]): void {
  const { bold, dim } = print.colors;
  print.data(`made ${paths.length} files in ${relative(io.cwd, folder) || "this folder"}`);
  for (const path of paths) print.data(`  ${dim(path)}`);
  print.data("");
  print.data("next");
  for (const command of next) print.data(`  ${bold(command)}`);
}
