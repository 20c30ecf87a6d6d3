import type { Command } from "@commander-js/extra-typings";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Settings } from "../../config/settings.js";
import { ConfigError } from "../../support/errors.js";
import { MANAGERS, managerOf, type PackageManager } from "../../support/package-manager.js";
import { examples, type Runner } from "../session/command.js";
import { compose, composeStream, usesRedisStorage } from "../container/compose.js";
import { type ContainerProject, dockerfile, DOCKERIGNORE } from "../container/files.js";
import { existingFiles, type ProjectFile, writeFiles } from "../init/files.js";
import { shortPath } from "../session/report-error.js";
import { loadSettings, type Session } from "../session/session.js";

export function dockerfileCommand(command: Command, run: Runner): void {
  command
    .argument("[graph...]", "files such as ./graph.ts:graph, if no configuration lists the graphs")
    .option(
      "--compose",
      "also write a compose.yaml with the databases, and with API servers and workers if the configuration has a queue",
    )
    .option("--stdout", "print the Dockerfile, or the compose.yaml with --compose, without writing files")
    .option("--force", "overwrite existing files")
    .addHelpText(
      "after",
      examples(
        "graph-serve dockerfile",
        "graph-serve dockerfile --compose",
        "graph-serve dockerfile --stdout",
      ),
    )
    .action((graphs, options) => run(command, async (session) => makeContainer(session, graphs, options)));
}

interface DockerfileFlags {
  compose?: boolean;
  stdout?: boolean;
  force?: boolean;
}

const IGNORE = ".dockerignore";

/** `dockerfile`: writes the files to build a container of the project. */
async function makeContainer(
  session: Session,
  graphs: readonly string[],
  flags: DockerfileFlags,
): Promise<number> {
  const { print } = session;
  const { settings, baseDir } = await loadSettings(session, { graphs });
  if (Object.keys(settings.graphs).length === 0)
    throw new ConfigError("no graphs to serve: no file was given, and no configuration has `graphs`", {
      hint: "pass a file: graph-serve dockerfile ./graph.ts:graph, or create a configuration: graph-serve init --config-only",
    });
  const needsSqlite = !flags.compose && ["sqlite", "memory"].includes(settings.checkpointer_scheme);
  const project = { ...projectIn(baseDir), graphs, port: settings.port, needsSqlite };
  const files: ProjectFile[] = [
    { path: "Dockerfile", content: dockerfile(project) },
    ...(flags.compose ? [{ path: "compose.yaml", content: compose({ settings, graphs }) }] : []),
  ];
  if (flags.stdout) {
    print.part(files.at(-1)?.content ?? "");
    return 0;
  }
  const written = await write(baseDir, files, flags.force ?? false);
  if (print.flags.json) print.json({ dir: baseDir, files: written });
  else for (const path of written) print.note(`wrote ${shortPath(join(baseDir, path), session.io.cwd)}`);
  if (flags.compose && /^mongo/.test(settings.checkpointer_scheme))
    print.warn(
      "compose.yaml stores threads in PostgreSQL, and the configuration in MongoDB: edit the file, or use PostgreSQL",
    );
  warnOfMissingPackages(session, baseDir, project.manager, [
    ...(flags.compose ? packagesOf(settings) : []),
    ...(settings.queue === "none" ? [] : ["pg-boss"]),
  ]);
  return 0;
}

/** Keeps an existing .dockerignore. @throws ConfigError if another file exists (`config_invalid`) */
async function write(folder: string, files: ProjectFile[], isForced: boolean): Promise<string[]> {
  const taken = isForced ? [] : await existingFiles(folder, files);
  if (taken.length > 0)
    throw new ConfigError(`already exists: ${taken.map(({ path }) => path).join(", ")}`, {
      hint: "overwrite with --force, or preview with --stdout",
    });
  const ignore = { path: IGNORE, content: DOCKERIGNORE };
  const all = (await existingFiles(folder, [ignore])).length > 0 ? files : [...files, ignore];
  await writeFiles(folder, all);
  return all.map(({ path }) => path);
}

/** Package manager settings that are needed to install. An .npmrc may contain a token and must not be in the image. */
const INSTALL_SETTINGS = ["pnpm-workspace.yaml", ".yarnrc.yml", "bunfig.toml"];

/** @throws ConfigError without a manifest and a lock file (`config_invalid`) */
function projectIn(folder: string): Pick<ContainerProject, "manager" | "installFiles" | "isClassicYarn"> {
  const isThere = (file: string) => existsSync(join(folder, file));
  const manager = managerOf(folder);
  const lock = MANAGERS[manager].lockFiles.find(isThere);
  if (!isThere("package.json") || lock === undefined)
    throw new ConfigError(`${folder} has no package.json with a lock file, which the image is built from`, {
      hint: `run ${manager} install; in a workspace, run this command in the root folder`,
    });
  return {
    manager,
    installFiles: ["package.json", lock, ...INSTALL_SETTINGS.filter(isThere)],
    isClassicYarn: manager === "yarn" && !/^__metadata:/m.test(readFileSync(join(folder, lock), "utf8")),
  };
}

/** Images contain only production dependencies. */
function warnOfMissingPackages(
  { print }: Session,
  folder: string,
  manager: PackageManager,
  drivers: readonly string[],
): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  const needed = ["graph-serve", ...drivers];
  const missing = needed.filter((name) => dependencies[name] === undefined);
  if (missing.length === 0) return;
  print.warn(
    `the image needs ${missing.join(", ")} in \`dependencies\`: ${MANAGERS[manager].add} ${missing.join(" ")}`,
  );
}

/** Packages for the databases of compose.yaml. */
const packagesOf = (settings: Settings): string[] => {
  const isRedis = usesRedisStorage(settings);
  const stream = composeStream(settings);
  return [
    ...(!isRedis || stream === "postgres" ? ["pg"] : []),
    ...(isRedis ? [] : ["@langchain/langgraph-checkpoint-postgres"]),
    ...(settings.queue === "postgres" ? ["pg-boss"] : []),
    ...(isRedis || stream === "redis" ? ["redis"] : []),
  ];
};
