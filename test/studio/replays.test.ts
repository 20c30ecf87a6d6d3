/** Running a run again in the Studio of `dev`: with its recording, or with the current code. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { askingGraph, cli, echoGraph } from "../cli/harness.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { httpGraph, type ModelServer, startModelServer } from "../testing/model-server.js";
import { askHelper, OWN, ran, useDev } from "./dev.js";
import { argumentsOf, expectCopied, useBrowser, violationsOf } from "./open.js";

const dev = useDev(() => ({ "graph.ts": echoGraph() }));

const json = async (url: string, init?: RequestInit): Promise<Record<string, unknown>> =>
  (await (await fetch(url, init)).json()) as Record<string, unknown>;

const said = (content: string) => ({ messages: [{ role: "user", content }] });

describeWithChromium("Run again", () => {
  const open = useBrowser();

  it("executes the current code on a copy of the thread, and compares old and new", async () => {
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    const before = await json(`${url}/threads/${thread_id}`);
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await dev.project.put("graph.ts", echoGraph("mended"));
    await page.getByText(/^reloaded/).waitFor();
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    expect(await page.getByRole("button", { name: /^Replay/ }).count()).toBe(0);
    const others = page.getByRole("group", { name: "Copy rerun as" });
    const command = await expectCopied(others, "graph-serve", /replay .* --execute --run .* --compare --url/);
    const { dir } = dev.project;
    const { code, stdout } = await cli(await argumentsOf(command, dir), { cwd: dir });
    expect([code, stdout]).toEqual([0, expect.stringMatching(/echo: hello.*mended: hello/s)]);
    const again = page.getByRole("button", { name: /^Run again/ });
    // The second click does nothing.
    await again.dblclick();
    await page.getByRole("link", { name: "Open the copy" }).waitFor();
    expect(page.url()).toContain(thread_id);
    const all = await fetch(`${url}/threads/search`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(await all.json()).toHaveLength(2);
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByText("Run again with the current code").waitFor();
    await note.getByRole("link", { name: "Compare old and new" }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    const copy = /#\/threads\/([\w-]+)/.exec(page.url())?.[1] ?? "";
    expect(copy).not.toBe(thread_id);
    await note.getByRole("link", { name: "Compare old and new" }).click();
    await page.getByText("mended: hello").first().waitFor();
    await page.getByText("echo: hello").first().waitFor();
    await page.getByText("Common steps: 1").waitFor();
    expect(await json(`${url}/threads/${copy}`)).toMatchObject({
      metadata: { replay_of: { thread_id, recorded: false } },
      ttl: { ttl_minutes: 1440 },
    });
    expect(await json(`${url}/threads/${thread_id}`)).toEqual(before);
  });

  it("resumes with the recorded human answers and reaches the same state", async () => {
    await dev.project.put("graph.ts", askingGraph);
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, { topic: "cats" });
    await ran(url, undefined, { threadId: thread_id, command: { resume: "yes" } });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    const again = page.getByRole("button", { name: /^Run again/ });
    await expect.poll(() => again.count()).toBe(2);
    await again.first().click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByRole("link", { name: "Compare old and new" }).click();
    await page.getByText("Common steps: 1").waitFor();
    await expect.poll(() => page.locator(".pair .badge").allTextContents()).toEqual(["same values"]);
  });

  it("shows the error of a failing run next to the old result", async () => {
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await dev.project.put("graph.ts", echoGraph().replace('"echo: "', "nothing"));
    await page.getByText(/^reloaded/).waitFor();
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    await page.getByRole("button", { name: /^Run again/ }).click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByText("nothing is not defined").waitFor();
    await note.getByRole("link", { name: "Compare old and new" }).click();
    await page.getByText("only in one").waitFor();
  });

  it("compares a run without steps with the step at which it started", async () => {
    await dev.project.put("graph.ts", echoGraph().replace('"echo: "', "nothing"));
    const { url, token } = await dev.start();
    const { thread_id } = await ran(url, said("hello"));
    await ran(url, null, { threadId: thread_id });
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await dev.project.put("graph.ts", echoGraph("mended"));
    await page.getByText(/^reloaded/).waitFor();
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    const again = page.getByRole("button", { name: /^Run again/ });
    await expect.poll(() => again.count()).toBe(2);
    await again.first().click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByRole("link", { name: "Compare old and new" }).click();
    await page.getByText("Common steps: 1").waitFor();
    await page.getByText("only in one").waitFor();
  });
});

describeWithChromium("Replay of a recorded run", () => {
  const open = useBrowser();
  let model: ModelServer;
  beforeEach(async () => {
    model = await startModelServer();
    process.env.MODEL_URL = model.url;
    await dev.project.put("graph.ts", httpGraph);
  });
  afterEach(async () => {
    delete process.env.MODEL_URL;
    await model.close();
  });

  it("works without the model, and reports where calls differ from the recording", async () => {
    const { url, token } = await dev.start({ flags: ["--record"] });
    const { thread_id } = await ran(url, said("what is the weather"));
    await model.close();
    const asked = model.requests.length;
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await page.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("button", { name: /^Replay/ }).click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByText("Replayed from the recording").waitFor();
    await note.getByText("Calls of models and tools match the recording.").waitFor();
    const copy = /#\/threads\/([\w-]+)/.exec(page.url())?.[1] ?? "";
    const textsOf = async (id: string) => {
      const { values } = (await json(`${url}/threads/${id}`)) as {
        values: { messages: { type: string; content: string }[] };
      };
      return values.messages.map(({ type, content }) => [type, content]);
    };
    expect(await textsOf(copy)).toEqual(await textsOf(thread_id));
    expect(model.requests).toHaveLength(asked);
    // A changed prompt is a different call.
    await dev.project.put("graph.ts", httpGraph.replace("Be brief.", "Be kind."));
    await page.getByText(/^reloaded/).waitFor();
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    await page.getByRole("button", { name: /^Replay/ }).click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    await note
      .getByText(/differs from the recorded request at messages\.0\.content/)
      .first()
      .waitFor();
    await note.getByText("Be kind.").first().waitFor({ state: "attached" });
    expect(await violationsOf(page)).toEqual([]);
    expect(model.requests).toHaveLength(asked);
  });
});

describeWithChromium("Replay in progress", () => {
  const open = useBrowser();

  it("shows steps as they complete, without a model or an API key", async () => {
    const model = await startModelServer();
    const gate = await startGate();
    Object.assign(process.env, {
      MODEL_URL: model.url,
      MODEL_API_KEY: "the-key-of-the-model",
      GATE: gate.url,
    });
    onTestFinished(async () => {
      for (const name of ["MODEL_URL", "MODEL_API_KEY", "GATE"]) delete process.env[name];
      await Promise.all([model.close(), gate.close()]);
    });
    await dev.project.put("graph.ts", heldGraph);
    const { url, token } = await dev.start({ flags: ["--record"] });
    gate.open();
    const { thread_id } = await ran(url, said("what is the weather"));
    gate.shut();
    await model.close();
    delete process.env.MODEL_API_KEY;
    const { page, visit } = await open(url);
    await visit(`#token=${token}`);
    await visit(`#/threads/${thread_id}`);
    await page.getByRole("button", { name: "Runs" }).click();
    await page.getByRole("button", { name: /^Replay/ }).click();
    await page.getByRole("link", { name: "Open the copy" }).click();
    const note = page.getByRole("complementary", { name: "Run again" });
    await note.getByText("Running.").waitFor();
    const steps = page.getByRole("listbox", { name: "Steps" }).getByRole("option");
    await expect.poll(() => steps.first().textContent()).toContain("agent");
    expect(await note.getByRole("link", { name: "Compare old and new" }).count()).toBe(0);
    gate.open();
    await note.getByText("Calls of models and tools match the recording.").waitFor();
    await expect.poll(() => steps.first().textContent()).toContain("hold");
    await note.getByRole("link", { name: "Compare old and new" }).click();
    await page.getByText(/Common steps: \d/).waitFor();
  });
});

/** The agent, followed by a node that waits for a gate. */
const heldGraph = `${httpGraph.replace("export const graph =", "const agent =")}
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", agent.graph)
  .addNode("hold", async () => ({ messages: [{ role: "user", content: await (await fetch(process.env.GATE)).text() }] }))
  .addEdge(START, "agent").addEdge("agent", "hold").addEdge("hold", END)
  .compile();
`;

/** A server that responds only while it is open. */
async function startGate() {
  const waiting = new Set<() => void>();
  let isOpen = false;
  const server = createServer((_request, response) => {
    const answer = () => void response.end("passed");
    if (isOpen) answer();
    else waiting.add(answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open() {
      isOpen = true;
      for (const answer of waiting) answer();
      waiting.clear();
    },
    shut: () => void (isOpen = false),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

describe("POST /studio/api/replays", () => {
  it("resumes with the recorded human answers, and rejects runs that are unrecorded or unknown", async () => {
    await dev.project.put("graph.ts", askingGraph);
    const { url, token } = await dev.start();
    const own = { ...OWN, "x-studio-token": token };
    const first = await ran(url, { topic: "cats" });
    const { run_id } = await ran(url, undefined, { threadId: first.thread_id, command: { resume: "yes" } });
    const ask = (body: object) => askHelper(url, "/studio/api/replays", own, JSON.stringify(body));
    const { thread_id } = first;
    const { status, body } = await ask({ thread_id, run_id });
    expect([status, body.of]).toMatchObject([201, { thread_id, run_id, recorded: false }]);
    const copy = String(body.thread_id);
    await expect
      .poll(async () => (await askHelper(url, `/studio/api/replays/${copy}`, own)).body)
      .toMatchObject({ status: "success", error: null, differences: [] });
    const valuesOf = async (id: string) => (await json(`${url}/threads/${id}`)).values;
    expect(await valuesOf(copy)).toEqual(await valuesOf(thread_id));
    const threads = async () =>
      (await json(`${url}/threads/count`, { method: "POST", body: "{}" })) as unknown;
    const count = await threads();
    const refused = await ask({ thread_id, run_id, recorded: true });
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body)).toContain(`run ${run_id} has no recording`);
    expect(await threads()).toEqual(count);
    expect((await ask({ thread_id, run_id: thread_id })).status).toBe(404);
    expect((await askHelper(url, `/studio/api/replays/${thread_id}`, own)).status).toBe(404);
    expect((await askHelper(url, "/studio/api/recordings", own)).status).toBe(200);
    expect((await askHelper(url, "/studio/api/recordings", OWN)).status).toBe(403);
  });
});
