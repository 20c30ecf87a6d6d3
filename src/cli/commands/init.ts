import { basename, relative, resolve } from "node:path";
import { isCancel, select } from "@clack/prompts";
import type { Command } from "@commander-js/extra-typings";
import { Option } from "../session/commander.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import {
  callingManager,
  callingVersion,
  MANAGERS,
  PACKAGE_MANAGERS,
  type PackageManager,
} from "../../support/package-manager.js";
import { examples, type Runner } from "../session/command.js";
import { configFiles, existingFiles, type ProjectFile, templateFiles, writeFiles } from "../init/files.js";
import { type PackageSource, packageSource } from "../init/source.js";
import { quoted } from "../session/options.js";
import { filesFor } from "../init/for-manager.js";
import type { Session } from "../session/session.js";

export function initCommand(command: Command, run: Runner): void {
  command
    .argument("[dir]", "folder of the project", ".")
    .addOption(new Option("-t, --template <name>", "project template (default chat)").choices(TEMPLATES))
    .addOption(
      new Option(
        "--pm <name>",
        "package manager of the project (default: the one that runs this command)",
      ).choices(PACKAGE_MANAGERS),
    )
    .option("--config-only", "create only the configuration file")
    .option("--force", "overwrite existing files")
    .addHelpText(
      "after",
      examples("graph-serve init my-agent", "graph-serve init my-agent -t agent-tools --pm pnpm"),
    )
    .action((dir, options) => run(command, async (session) => init(session, dir, options)));
}

interface InitFlags {
  template?: Template;
  pm?: PackageManager;
  configOnly?: boolean;
  force?: boolean;
}

const MOST_NAMES = 3;

/** `init`: copies a template into a folder, or creates only a configuration file. */
async function init(session: Session, dir: string, flags: InitFlags): Promise<number> {
  const { io, print } = session;
  // An empty variable of a script must not fill the current folder.
  if (dir.trim() === "")
    throw new InvalidRequestError("the folder of the project is empty", undefined, {
      hint: "name a folder, such as graph-serve init my-agent, or . for the current one",
    });
  const folder = resolve(io.cwd, dir);
  const isNew = flags.template !== undefined || flags.configOnly || flags.force;
  // Fail before prompting for a template.
  if (!isNew) await refuseProject(folder, dir);
  const template = flags.configOnly ? undefined : (flags.template ?? (await chooseTemplate(session)));
  const manager = flags.pm ?? callingManager(io.env) ?? "npm";
  const source = await packageSource(folder);
  const files =
    template === undefined
      ? await configFiles(folder)
      : filesFor(
          await templateFiles(template, basename(folder), source.dependency),
          manager,
          callingVersion(manager, io.env),
        );
  const taken = await existingFiles(folder, files);
  if (taken.length > 0 && !flags.force) throw wouldOverwrite(taken, dir, flags);
  await writeFiles(folder, files);
  const next = nextCommands(session, folder, { manager, source, configOnly: flags.configOnly });
  const paths = files.map(({ path }) => path);
  if (print.flags.json) print.json({ dir: folder, template: template ?? null, files: paths, next });
  else describe(session, folder, paths, next);
  if (source.warning !== undefined && !flags.configOnly) print.warn(source.warning);
  return 0;
}

async function chooseTemplate({ io, print, flags }: Session): Promise<Template> {
  if (!io.stdin.isTTY || !print.isWatched || flags.yes || flags.json) return "chat";
  return askTemplate();
}

/** @throws ConfigError if the folder already contains a project (`config_invalid`) */
async function refuseProject(folder: string, dir: string): Promise<void> {
  const manifest = { path: "package.json", content: "" };
  const taken = await existingFiles(folder, [manifest]);
  if (taken.length > 0) throw wouldOverwrite(taken, dir, {});
}

function wouldOverwrite(taken: ProjectFile[], dir: string, { configOnly }: InitFlags): ConfigError {
  const names = taken.slice(0, MOST_NAMES).map(({ path }) => path);
  const more = taken.length > MOST_NAMES ? ` and ${taken.length - MOST_NAMES} more` : "";
  const place = dir === "." ? "" : ` ${quoted(dir)}`;
  const hints = [
    ...(configOnly
      ? []
      : [`to serve the graphs of an existing project: graph-serve init${place} --config-only`]),
    "choose another folder, or overwrite with --force",
  ];
  return new ConfigError(`already exists: ${names.join(", ")}${more}`, { hint: hints.join("\n") });
}

function nextCommands(
  { io }: Session,
  folder: string,
  { manager, source, configOnly }: { manager: PackageManager; source: PackageSource; configOnly?: boolean },
): string[] {
  const { exec: execute, script: run } = MANAGERS[manager];
  if (configOnly) {
    return ["validate", "dev", 'run --message "hello"'].map((command) => `${execute} graph-serve ${command}`);
  }
  const place = relative(io.cwd, folder);
  const enter = place === "" ? [] : [`cd ${quoted(place)}`];
  const talk = place === "" ? [`${execute} graph-serve run --message "hello"`] : [];
  const install = source.needsInstall ? [`${manager} install`] : [];
  return [...enter, ...install, `${run} dev`, ...talk];
}

function describe({ io, print }: Session, folder: string, paths: string[], next: string[]): void {
  const { bold, dim } = print.colors;
  print.data(`created ${paths.length} files in ${relative(io.cwd, folder) || "this folder"}`);
  for (const path of paths) print.data(`  ${dim(path)}`);
  print.data("");
  print.data("next");
  for (const command of next) print.data(`  ${bold(command)}`);
}

/** Prompts for a template. */
async function askTemplate(): Promise<Template> {
  const answer = await select<Template>({
    message: "Which template do you want to use?",
    output: process.stderr,
    options: [
      { value: "chat", label: "chat", hint: "a conversation with memory" },
      { value: "agent-tools", label: "agent-tools", hint: "an agent that calls tools" },
      { value: "hitl", label: "hitl", hint: "a graph that waits for human input" },
      { value: "minimal", label: "minimal", hint: "the smallest graph" },
    ],
  });
  if (isCancel(answer))
    throw new ConfigError("cancelled: no files were created", {
      hint: "specify a template: graph-serve init -t chat",
    });
  return answer;
}

const TEMPLATES = ["chat", "agent-tools", "hitl", "minimal"] as const;
type Template = (typeof TEMPLATES)[number];
