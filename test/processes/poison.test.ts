/** A run that kills its worker next to other runs in the same process: only this run fails. */
import { expect, it } from "vitest";
import type { Run } from "../../src/models/run.js";
import { newId } from "../../src/support/ids.js";
import type { TrailLine } from "../fixtures/graphs/trail.js";
import { withPostgres } from "../helpers/postgres.js";
import {
  onServers,
  PATIENCE,
  type ServerProcess,
  type ServerProcesses,
  settingsOf,
} from "../helpers/server-processes.js";

const INNOCENTS = 8;

withPostgres("a run that kills its worker", (postgres) => {
  const settings = () => ({
    ...settingsOf(postgres.options({ pool_max_size: 3 })),
    queue: "postgres" as const,
    stream: "postgres" as const,
  });
  onServers(settings, poison);
});

function poison(servers: ServerProcesses): void {
  it("does not use up max_attempts of other runs", { timeout: 300_000 }, async () => {
    const [api] = (await servers.start(1, { role: "api" })) as [ServerProcess];
    const gates = Array.from({ length: INNOCENTS + 1 }, newId);
    const worker = async () => {
      const [one] = (await servers.start(1, { role: "worker" })) as [ServerProcess];
      return one;
    };
    const begin = async (assistant_id: string, node: string, gate: string) => {
      const body = { assistant_id, input: { gates: { [node]: gate } }, if_not_exists: "create" };
      const headers = { Prefer: "respond-async" };
      const { status, body: run } = await api.request("POST", `/threads/${newId()}/runs`, body, headers);
      expect(status).toBe(200);
      return run as Run;
    };
    let current = await worker();
    const innocents = [];
    for (const gate of gates.slice(1)) innocents.push(await begin("trail", "b", gate));
    const deadly = await begin("deadly", "kill", gates[0]!);
    const waitsAt = (run: Run, node: string) =>
      expect.poll(() => servers.nodes(run).includes(node), PATIENCE).toBe(true);
    await Promise.all([...innocents.map((run) => waitsAt(run, "b")), waitsAt(deadly, "kill")]);
    const first = current.pid;
    current.open(gates[0]!);
    // Restarts the worker as a supervisor does.
    const isOver = async () => (await api.run(deadly)).status === "error";
    for (let started = 1; started <= 4; started++) {
      await current.gone();
      current = await worker();
      gates.forEach((gate) => current.open(gate));
      const ended = expect.poll(isOver, PATIENCE).toBe(true);
      if (started >= 3) await ended;
      else await Promise.race([current.gone(), ended]);
      if (await isOver()) break;
    }
    expect(await api.run(deadly)).toMatchObject({ status: "error", attempt: 3 });
    for (const run of innocents) {
      await expect.poll(async () => (await api.run(run)).status, PATIENCE).toBe("success");
      expect((await api.run(run)).attempt).toBe(2);
    }
    const { body: dead } = await api.request("GET", "/runs/dead");
    expect(dead).toMatchObject([{ run_id: deadly.run_id }]);
    for (const lines of linesByProcess(servers, [...innocents, deadly], first)) expectAlone(lines, deadly);
  });
}

/** Trail lines of these runs for each process except the first. */
function linesByProcess(servers: ServerProcesses, runs: readonly Run[], first: number): TrailLine[][] {
  const lines = runs.flatMap(({ thread_id }) => servers.ledger(thread_id) as unknown as TrailLine[]);
  const pids = new Set(lines.map(({ pid }) => pid).filter((pid) => pid !== first));
  return [...pids].map((pid) => lines.filter((line) => line.pid === pid));
}

/** No other run was in flight in a process that died: runs that began there also ended there. */
function expectAlone(lines: readonly TrailLine[], deadly: Run): void {
  if (!lines.some(({ run }) => run === deadly.run_id)) return;
  const others = lines.filter(({ run }) => run !== deadly.run_id);
  const begun = others.flatMap(({ node, run }) => (node === "b" ? [run] : []));
  const ended = others.flatMap(({ node, run }) => (node === "c" ? [run] : []));
  expect(ended.sort()).toEqual(begun.sort());
}
