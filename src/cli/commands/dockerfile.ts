import type { Command } from "@commander-js/extra-typings";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../support/errors.js";
import { MANAGERS, managerOf, type PackageManager } from "../../support/package-manager.js";
import { examples, type Runner } from "../session/command.js";
import { compose, type ContainerProject, dockerfile, DOCKERIGNORE } from "../container/files.js";
import { existingFiles, type ProjectFile, writeFiles } from "../init/files.js";
import { shortPath } from "../session/report-error.js";
import { loadSettings, type Session } from "../session/session.js";

export function dockerfileCommand(command: Command, run: Runner): void {
  command
    .argument("[graph...]", "files such as ./graph.ts:graph, where no configuration names the graphs")
    .option("--compose", "also make a compose.yaml, with PostgreSQL")
    .option("--stdout", "print the Dockerfile, or with --compose the compose.yaml, and write nothing")
    .option("--force", "write over files that are there")
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

/** `dockerfile`: what a container of the project is made of. */
async function makeContainer(
  session: Session,
  graphs: readonly string[],
  flags: DockerfileFlags,
): Promise<number> {
  const { print } = session;
  const { settings, baseDir } = await loadSettings(session, { graphs });
  if (Object.keys(settings.graphs).length === 0)
    throw new ConfigError(
      "there is no graph to serve: no file was named, and no configuration has `graphs`",
      {
        hint: "graph-serve dockerfile ./graph.ts:graph, or make a configuration: graph-serve init --config-only",
      },
    );
  const needsSqlite = !flags.compose && ["sqlite", "memory"].includes(settings.checkpointer_scheme);
  const project = { ...projectIn(baseDir), graphs, port: settings.port, needsSqlite };
  const files: ProjectFile[] = [
    { path: "Dockerfile", content: dockerfile(project) },
    ...(flags.compose ? [{ path: "compose.yaml", content: compose(settings.port) }] : []),
  ];
  if (flags.stdout) {
    print.part(files.at(-1)?.content ?? "");
    return 0;
  }
  const written = await write(baseDir, files, flags.force ?? false);
  if (print.flags.json) print.json({ dir: baseDir, files: written });
  else for (const path of written) print.note(`wrote ${shortPath(join(baseDir, path), session.io.cwd)}`);
  tellWhatIsMissing(session, baseDir, project.manager, flags);
  return 0;
}

/** An ignore file of the project's own is left as it is. */
async function write(folder: string, files: ProjectFile[], isForced: boolean): Promise<string[]> {
  const taken = isForced ? [] : await existingFiles(folder, files);
  if (taken.length > 0)
    throw new ConfigError(`there is already ${taken.map(({ path }) => path).join(", ")}`, {
      hint: "write over it with --force, or look at what would be written with --stdout",
    });
  const ignore = { path: IGNORE, content: DOCKERIGNORE };
  const all = (await existingFiles(folder, [ignore])).length > 0 ? files : [...files, ignore];
  await writeFiles(folder, all);
  return all.map(({ path }) => path);
}

/** Settings of package managers that installing reads. An .npmrc may hold a token, which has no place in an image. */
const INSTALL_SETTINGS = ["pnpm-workspace.yaml", ".yarnrc.yml", "bunfig.toml"];

/** @throws ConfigError without a manifest and a lock file (`config_invalid`) */
function projectIn(folder: string): Pick<ContainerProject, "manager" | "installFiles" | "isClassicYarn"> {
  const isThere = (file: string) => existsSync(join(folder, file));
  const manager = managerOf(folder);
  const lock = MANAGERS[manager].lockFiles.find(isThere);
  if (!isThere("package.json") || lock === undefined)
    throw new ConfigError(`${folder} has no package.json with a lock file, by which an image is made`, {
      hint: `make it with: ${manager} install; in a workspace, work in its top folder`,
    });
  return {
    manager,
    installFiles: ["package.json", lock, ...INSTALL_SETTINGS.filter(isThere)],
    isClassicYarn: manager === "yarn" && !/^__metadata:/m.test(readFileSync(join(folder, lock), "utf8")),
  };
}

/** Images have the packages of production alone. */
function tellWhatIsMissing(
  { print }: Session,
  folder: string,
  manager: PackageManager,
  { compose: hasDatabase = false }: DockerfileFlags,
): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  const needed = ["graph-serve", ...(hasDatabase ? POSTGRES : [])];
  const missing = needed.filter((name) => dependencies[name] === undefined);
  if (missing.length === 0) return;
  print.warn(
    `the image needs ${missing.join(", ")} among \`dependencies\`: ${MANAGERS[manager].add} ${missing.join(" ")}`,
  );
}

const POSTGRES = ["pg", "@langchain/langgraph-checkpoint-postgres"];
