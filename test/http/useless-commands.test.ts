/** A command that neither resumes, updates nor goes anywhere: LangGraph fails for it once the run has begun. */
import { describe, expect, it } from "vitest";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { startTestServer } from "../helpers/app.js";

const USELESS = [{}, { goto: [] }, { update: {} }, { update: [] }, { goto: null, update: null }];

async function interrupted() {
  const { request } = await startTestServer({ graphs: { hitl } });
  const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
  const thread = `/threads/${thread_id}`;
  const run = (body: object) => request("POST", `${thread}/runs/wait`, { assistant_id: "hitl", ...body });
  expect((await run({ input: { topic: "tea" } })).status).toBe(200);
  const get = async (path: string) => (await request("GET", thread + path)).body;
  return { run, get };
}

describe("a command that does nothing", () => {
  it.each(USELESS)("%j is refused, and the thread still waits", async (command) => {
    const { run, get } = await interrupted();
    expect(await run({ command })).toMatchObject({
      status: 422,
      body: {
        detail: [{ loc: ["body", "command"], msg: expect.stringContaining("does nothing") as string }],
      },
    });
    expect(await get("/runs")).toHaveLength(1);
    expect(await get("")).toMatchObject({ status: "interrupted" });
  });

  it.each(USELESS)("%j is ignored beside an input", async (command) => {
    const { run, get } = await interrupted();
    expect((await run({ command, input: { topic: "milk" } })).status).toBe(200);
    expect(await get("/state")).toMatchObject({ values: { topic: "milk" } });
  });
});
