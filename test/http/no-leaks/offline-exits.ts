/** Runs every command that reads a storage, without --raw. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openService } from "../../../src/service/open.js";
import { cli, createProject } from "../../cli/harness.js";
import { FINE, leaksIn } from "./mark.js";
import type { Walked } from "./graphs.js";

export interface Offline {
  dir: string;
  graph: string;
  /** An interrupted thread and a finished one. */
  threads: readonly string[];
}

const storage = { checkpointer_scheme: "sqlite", checkpointer_uri: "./walk.db" };

/** Creates a project whose storage holds threads of the graph. */
export async function openOffline({ id, file, input }: Walked): Promise<Offline> {
  const graphs = { [id]: `${join(import.meta.dirname, file)}.ts:${id}` };
  const project = await createProject({ "graph-server.config.json": { graphs, ...storage } });
  onTestFinished(() => project.remove());
  const { dir } = project;
  const service = await openService({ cwd: dir, graphs, settings: storage });
  const threads: string[] = [];
  for (const turns of [[{ input }], [{ input }, { command: { resume: FINE } }]]) {
    const { thread_id } = await service.threads.create({});
    for (const turn of turns) await service.runs.create(thread_id, { assistant_id: id, ...turn });
    threads.push(thread_id);
  }
  await service.close();
  return { dir, graph: id, threads };
}

/** Returns the marks printed by each command, as `command: mark`, without duplicates. */
export async function walkOffline({ dir, graph, threads }: Offline): Promise<string[]> {
  const sights = new Set<string>();
  const look = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr } = await cli(argv, { cwd: dir });
    for (const mark of leaksIn(stdout + stderr)) sights.add(`${argv[0]} ${argv[1]}: ${mark}`);
    return stdout;
  };
  await look("schemas", graph, "--json");
  await look("threads", "list", "--json");
  for (const thread of threads) {
    const exported = JSON.parse(await look("export", thread)) as {
      runs: { run_id: string }[];
      checkpoints: { checkpoint_ns: string }[];
    };
    await look("inspect", "thread", thread, "--full");
    await look("replay", thread);
    await look("inspect", "run", exported.runs[0]?.run_id ?? "", "--full");
    for (const namespace of new Set(exported.checkpoints.map(({ checkpoint_ns }) => checkpoint_ns))) {
      await look("inspect", "checkpoint", thread, "--writes", "--full", "--ns", namespace);
      await look("history", thread, "--json", "--ns", namespace);
    }
  }
  return [...sights].sort();
}

/** Returns the marks in a file exported with --raw. */
export async function walkRaw({ dir, threads }: Offline): Promise<string[]> {
  const { stdout } = await cli(["export", threads[0] ?? "", "--raw"], { cwd: dir });
  return leaksIn(stdout);
}
