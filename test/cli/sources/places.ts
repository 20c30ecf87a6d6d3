/** The same threads in every source that commands can read: each storage, and a server. */
import { startServer } from "../../../src/http/server.js";
import type { RunningServer } from "../../../src/http/listen.js";
import { openService } from "../../../src/service/open.js";
import { cli, type CliResult } from "../harness.js";
import type { StorageOptions } from "../../../src/storage/contract/storage.js";
import { GRAPHS, KINDS, type EveryKind } from "./every-kind.js";

export type Run = (...argv: string[]) => Promise<CliResult>;

/** Writes a configuration for the storage, and returns a function that runs commands with it. */
export async function offlineAt(
  { project }: EveryKind,
  name: string,
  storage: Pick<StorageOptions, "checkpointer_scheme" | "checkpointer_uri"> & {
    checkpointer_options?: object;
  },
): Promise<Run> {
  await project.put(`${name}.json`, { graphs: GRAPHS, ...storage });
  return (...argv) => cli([...argv, "--config", `${name}.json`], { cwd: project.dir });
}

/** Exports every thread from the original storage and imports it with `run`. */
export async function importEvery({ project, threads }: EveryKind, run: Run): Promise<void> {
  for (const kind of KINDS) {
    const out = ["--out", `file-of-${kind}.json`];
    const exported = await cli(["export", threads[kind], "--raw", "-q", ...out], { cwd: project.dir });
    if (exported.code !== 0) throw new Error(exported.stderr);
    const { code, stderr } = await run("import", `file-of-${kind}.json`);
    if (code !== 0) throw new Error(`import of ${kind} failed: ${stderr}`);
  }
}

/** Starts a server of the project on this database. */
export async function serveAt({ project }: EveryKind, checkpointer_uri: string): Promise<RunningServer> {
  const settings = { checkpointer_scheme: "sqlite", checkpointer_uri } as const;
  const service = await openService({ cwd: project.dir, graphs: GRAPHS, settings });
  return startServer(service, { host: "127.0.0.1", port: 0 });
}
