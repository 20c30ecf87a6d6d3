/** Commands load only the packages they need. Each command runs in a process that records its loaded modules. */
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect } from "vitest";
import { itSqlite as it } from "../helpers/with-sqlite.js";
import { installPackage } from "../helpers/compiled.js";
import { createThreadProject, type ThreadProject } from "./thread-fixture.js";

const STORAGE = ["--checkpointer-scheme", "sqlite", "--checkpointer-uri", "./threads.db"];
/** Packages for serving, watching files, logging and prompts. */
const OF_SERVERS = ["express", "pino", "chokidar", "@clack/prompts"];
const OF_OTHER_STORAGES = ["pg", "mongodb", "redis"];

let installed: string;
let project: ThreadProject;
beforeAll(async () => {
  installed = await installPackage();
  project = await createThreadProject();
});
afterAll(async () => {
  await rm(installed, { recursive: true, force: true });
  await project.remove();
});

const inModule = (source: string): string => `data:text/javascript,${encodeURIComponent(source)}`;

/** The names of the packages that a command loads. */
async function packagesOf(argv: string[]): Promise<Set<string>> {
  const list = await project.put("loaded.txt", "");
  const hooks = inModule(`import { appendFileSync } from "node:fs";
    export async function load(url, context, next) {
      appendFileSync(${JSON.stringify(list)}, url + "\\n");
      return next(url, context);
    }`);
  const register = inModule(`import { register } from "node:module"; register(${JSON.stringify(hooks)});`);
  const bin = join(installed, "bin/graph-serve.js");
  await promisify(execFile)(process.execPath, ["--import", register, bin, ...argv], { cwd: project.dir });
  const urls = (await readFile(list, "utf8")).split("\n");
  expect(urls.some((url) => url.endsWith("/cli/main.js"))).toBe(true);
  return new Set(urls.flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []));
}

it.each(["--version", "--help", "inspect thread --help"])(
  "%s loads no server, storage or graph packages",
  async (words) => {
    const packages = await packagesOf(words.split(" "));
    for (const name of [...OF_SERVERS, ...OF_OTHER_STORAGES, "better-sqlite3", "jiti", "yaml"])
      expect(packages).not.toContain(name);
    expect([...packages].filter((name) => name.startsWith("@langchain/"))).toEqual([]);
  },
);

it.each(["threads list", "inspect thread THREAD", "history THREAD", "replay THREAD"])(
  "%s loads no server packages and only its own storage",
  async (words) => {
    const packages = await packagesOf([...words.replace("THREAD", project.threadId).split(" "), ...STORAGE]);
    expect(packages).toContain("better-sqlite3");
    for (const name of [...OF_SERVERS, ...OF_OTHER_STORAGES]) expect(packages).not.toContain(name);
  },
);

it.each(["threads list", "inspect thread THREAD"])(
  "%s validates its settings without ajv and TypeBox, also those of a JSON file",
  async (words) => {
    await project.put("graph-server.config.json", {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "./threads.db",
      log_level: "info",
    });
    const packages = await packagesOf(words.replace("THREAD", project.threadId).split(" "));
    expect(packages).toContain("better-sqlite3");
    for (const name of ["ajv", "@sinclair/typebox", "yaml"]) expect(packages).not.toContain(name);
  },
);

it.each(["threads list", "threads list --status idle", "runs list THREAD"])(
  "%s loads neither LangGraph nor a graph",
  async (words) => {
    const packages = await packagesOf([...words.replace("THREAD", project.threadId).split(" "), ...STORAGE]);
    expect(packages).toContain("better-sqlite3");
    expect([...packages].filter((name) => /^(@langchain\/|langsmith|zod|jiti|tsx)/.test(name))).toEqual([]);
  },
);
