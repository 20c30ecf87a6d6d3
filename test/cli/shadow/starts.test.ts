/** A run that wrote no state is repeated from the state that it found when its turn came. */
import { afterEach, beforeEach, expect } from "vitest";
import type { JudgedResult } from "../../../src/cli/shadow/report.js";
import { openService } from "../../../src/service/open.js";
import type { Service } from "../../../src/service/service.js";
import { newId } from "../../../src/support/ids.js";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";
import { cli, createProject, type Project } from "../harness.js";

/** Waits for the gate, asks, and throws the answer. */
const GRAPH = `
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ n: Annotation(), seen: Annotation() }))
  .addNode("wait", async ({ n }) => { await globalThis.shadowGate; return { seen: "seen " + n }; })
  .addNode("ask", () => { throw new Error(interrupt("sure?")); })
  .addEdge(START, "wait").addEdge("wait", "ask")
  .compile();
`;
declare global {
  var shadowGate: Promise<void> | undefined;
}
const STORAGE = { checkpointer_scheme: "sqlite", checkpointer_uri: "./threads.db" } as const;
/** A run on another graph than the run before is repeated on its own. */
const GRAPHS = { first: "./graph.ts", second: "./graph.ts" };

let project: Project;
let service: Service;
beforeEach(async () => {
  project = await createProject({
    "graph.ts": GRAPH,
    "graph-server.config.json": { graphs: GRAPHS, ...STORAGE },
  });
  service = await openService({ cwd: project.dir, graphs: GRAPHS, settings: STORAGE });
});
afterEach(async () => {
  globalThis.shadowGate = undefined;
  await service.close(0);
  await project.remove();
});

async function shadowed(threadId: string) {
  const { stdout, stderr } = await cli(["shadow", "--json"], { cwd: project.dir });
  expect(stdout, stderr).not.toBe("");
  const { items } = JSON.parse(stdout) as { items: JudgedResult[] };
  const own = items.filter(({ thread_id }) => thread_id === threadId);
  return own.map(({ outcome, stored_status, difference }) => ({ outcome, stored_status, difference }));
}

const SAME = [
  { outcome: "same", stored_status: "interrupted", difference: null },
  { outcome: "same", stored_status: "error", difference: null },
];

describe("shadow of a failed answer", () => {
  it("starts from the question if the answer waited for its turn", async () => {
    let open = () => {};
    globalThis.shadowGate = new Promise((resolve) => (open = resolve));
    const threadId = newId();
    await service.runs.background(threadId, {
      ...{ assistant_id: "first", input: { n: 1 }, if_not_exists: "create" },
    });
    const { run_id } = await service.runs.background(threadId, {
      ...{ assistant_id: "second", command: { resume: "no" } },
    });
    open();
    await expect.poll(() => service.runs.get(threadId, run_id)).toMatchObject({ status: "error" });
    expect(await shadowed(threadId)).toEqual(SAME);
  });
});
