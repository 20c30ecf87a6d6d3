/** Comparing two branches of one thread, of two threads, or of files. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AIMessage } from "@langchain/core/messages";
import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import type { RunTasks } from "../../src/models/run.js";
import type { ThreadFile } from "../../src/models/thread-file.js";
import { cli } from "../cli/harness.js";
import { createThreadProject, type ThreadProject } from "../cli/thread-fixture.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { deferred } from "../helpers/deferred.js";
import { argumentsOf, expectCopied, held, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const HOSTILE = '"><iframe srcdoc="x"></iframe><img src=x onerror=alert(1)>';

const json = async <T>(url: string): Promise<T> => (await (await fetch(url)).json()) as T;

/** The cells of the totals table, by row. */
const totals = (page: Page): Promise<string[][]> =>
  page
    .locator(".compared-totals tbody tr")
    .all()
    .then((rows) => Promise.all(rows.map((row) => row.locator("th, td").allTextContents())));

/** Takes at least 1 ms, so that its start and end are on different sides of a checkpoint. */
const model = new FakeModel(() => {
  const begun = Date.now();
  while (Date.now() === begun);
  return "an answer";
});
const answer = async ({ messages }: typeof MessagesAnnotation.State) => ({
  messages: [await model.invoke(messages)],
});
/** Calls its model twice. */
const twice = new StateGraph(MessagesAnnotation)
  .addNode("one", answer)
  .addNode("two", answer)
  .addEdge(START, "one")
  .addEdge("one", "two")
  .addEdge("two", END)
  .compile();

/** Its message has usage metadata although the run calls no model. */
const quoting = new StateGraph(MessagesAnnotation)
  .addNode("quote", () => ({
    messages: [
      new AIMessage({
        content: "quoted",
        usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
      }),
    ],
  }))
  .addEdge(START, "quote")
  .addEdge("quote", END)
  .compile();

/** An exported thread with `count` steps and values that contain its name. */
function exportedThread(name: string, count: number): string {
  const id = (step: number) => ({ checkpoint_id: `${name}-${String(step).padStart(6, "0")}` });
  const states = Array.from({ length: count }, (_, step) => ({
    values: { step, name },
    checkpoint: id(step),
    parent_checkpoint: step === 0 ? null : id(step - 1),
    metadata: { source: "loop", step },
    created_at: null,
    next: ["work"],
    tasks: [],
    interrupts: [],
  }));
  const thread = { thread_id: name };
  return JSON.stringify({
    format: "graph-serve/thread",
    version: 1,
    thread,
    runs: [],
    states,
    subgraphs: [],
  });
}

describeWithChromium("comparing two branches", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, twice, quoting } });

  it("of one thread starts at the step where they diverge", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const [tip, , forked] = await service.state.history(id, { limit: 3 });
    const checkpoint = { checkpoint_id: forked?.checkpoint?.checkpoint_id ?? "" };
    const message = { role: "tool", tool_call_id: "call_add", content: "seven", name: "add" };
    const written = await service.state.update(id, {
      values: { messages: [message] },
      as_node: "tools",
      checkpoint,
    });
    const { checkpoint_id } = written.checkpoint;
    await service.runs.create(id, { assistant_id: "agent", input: null, checkpoint: { checkpoint_id } });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}/at/${tip?.checkpoint?.checkpoint_id}`);
    await page.getByRole("link", { name: "Compare with the newest" }).click();
    await page.getByText("Common steps: 3").waitFor();
    await visit("#/compare");
    await page.getByText("Select two steps").waitFor();
    await page.getByLabel("first").fill(`${id}@${tip?.checkpoint?.checkpoint_id}`);
    await page.getByLabel("second").fill(`${id}@-1`);
    await page.keyboard.press("Enter");
    await page.getByText("Common steps: 3").waitFor();
    const pairs = page.locator(".pair");
    await expect.poll(() => pairs.count()).toBe(2);
    await page.locator(".pair .change").getByText("seven").first().waitFor();
    await page.locator(".pair").last().getByText("The sum is 5").first().waitFor();
    expect(await violationsOf(page)).toEqual([]);
    // Steps of the first run before the branches diverge are not counted.
    const [again, first] = await service.runs.list(id, {});
    const { tasks } = await json<RunTasks>(`${url}/threads/${id}/runs/${first?.run_id}/tasks`);
    const asked = tasks.flatMap(({ usage }) => usage?.total_tokens ?? []);
    expect(asked).toHaveLength(2);
    expect(await totals(page)).toEqual([
      ["first", "3 model_request", "2", expect.stringMatching(/^[\d.]+ m?s$/), String(asked[1])],
      ["second", "3 model_request", "2", expect.any(String), String(again?.usage?.total_tokens)],
    ]);
    const others = page.getByRole("group", { name: "Copy diff as" });
    const command = await expectCopied(others, "graph-serve", new RegExp(`diff ${id}@.+ ${id}@.+ --url`));
    const { code, stdout } = await cli(await argumentsOf(command, process.cwd()));
    expect([code, stdout]).toEqual([0, expect.stringContaining("seven")]);
    await page.getByRole("table").getByRole("link").last().click();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
  });

  it("shows the tokens up to a step in the middle of a run, if they are known", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "twice", ask("two and three"));
    const [, inMidst, begun] = await service.state.history(id, { limit: 3 });
    const checkpoint = { checkpoint_id: begun?.checkpoint?.checkpoint_id ?? "" };
    await service.state.update(id, { values: {}, as_node: "one", checkpoint });
    const [run] = await service.runs.list(id, {});
    const stored = await service.runs.tasks(id, run?.run_id ?? "");
    const [first, last] = stored.tasks.flatMap(({ usage }) => usage?.total_tokens ?? []);
    expect((first ?? 0) + (last ?? 0)).toBe(run?.usage?.total_tokens);
    const { page, visit } = await open(url);
    const tokens = async () => (await totals(page)).map((cells) => cells.at(-1));
    const compared = `#/compare/${id}@${inMidst?.checkpoint?.checkpoint_id}/${id}@-1`;
    await visit(compared);
    await expect.poll(tokens).toEqual([String(first), "0"]);
    for (const told of [
      { tasks: [], omitted: 0 },
      { tasks: stored.tasks.slice(0, -1), omitted: 1 },
    ]) {
      await page.route("**/runs/*/tasks", (route) => route.fulfill({ json: told }));
      await page.reload();
      await expect.poll(tokens).toEqual(["–", "0"]);
      await page.unroute("**/runs/*/tasks");
    }
    const quoted = await ranThread(service, "quoting", ask("what was said?"));
    await visit(`#/compare/${quoted}@-1/${id}@${inMidst?.checkpoint?.checkpoint_id}`);
    await expect.poll(tokens).toEqual(["–", String(first)]);
    expect(await page.locator(".compared-totals thead").innerText()).toMatch(/\btokens\s*$/);
  });

  it("is read again once the page reconnects, and so are its values", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "agent", ask("two and three"));
    const other = await ranThread(service, "agent", ask("hello"));
    const { page, visit } = await open(url);
    const fault = page.getByText("The server is not reachable");
    const cutOff = createServer((_, res) => {
      res.writeHead(200, { "content-type": "application/json", "content-length": 100 });
      res.write("[", () => res.destroy());
    }).listen(0, "127.0.0.1");
    onTestFinished(() => void cutOff.close());
    await once(cutOff, "listening");
    const { port } = cutOff.address() as AddressInfo;
    const losing = [
      (route: Route) => route.abort(),
      (route: Route) => route.continue({ url: `http://127.0.0.1:${port}/` }),
    ];
    for (const address of ["**/threads/*/history", "**/threads/*/state/checkpoint"])
      for (const lose of losing) {
        await page.route(address, lose);
        await visit("#/threads");
        await visit(`#/compare/${one}@-1/${other}@-1`);
        await fault.first().waitFor();
        await page.getByText("The page reconnects when it is back").first().waitFor();
        await page.unroute(address);
        await page.evaluate(`dispatchEvent(new Event("online"))`);
        await page.getByText("differs").first().waitFor();
        await expect.poll(() => fault.count()).toBe(0);
      }
  });

  it("is read again if the page reconnects while a lost request is waited for, or as its error is shown", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "agent", ask("two and three"));
    const other = await ranThread(service, "agent", ask("hello"));
    const { page, visit } = await open(url);
    const reconnect = `dispatchEvent(new Event("online"))`;
    const failsLate = async (address: string) => {
      const [asked, reconnected] = [deferred(), deferred()];
      let isBack = false;
      await page.route(address, async (route) => {
        if (isBack) return route.continue();
        asked.resolve();
        await reconnected.promise;
        await route.abort();
      });
      return async () => {
        await asked.promise;
        isBack = true;
        await page.evaluate(reconnect);
        reconnected.resolve();
      };
    };
    const failsTwice = async (address: string) => {
      await page.route(address, (route) => route.abort(), { times: 2 });
      await page.evaluate(`new MutationObserver((_, shown) => {
        if (!document.querySelector(".fault")) return;
        shown.disconnect();
        ${reconnect};
      }).observe(document, { subtree: true, childList: true })`);
      return () => Promise.resolve();
    };
    for (const address of ["**/threads/*/history", "**/threads/*/state/checkpoint"])
      for (const fails of [failsLate, failsTwice]) {
        await visit("#/threads");
        const lost = await fails(address);
        await visit(`#/compare/${one}@-1/${other}@-1`);
        await lost();
        await page.getByText("differs").first().waitFor();
        await expect.poll(() => page.locator(".fault").count()).toBe(0);
      }
  });

  it("is not shown while another one loads, and asks nothing before both steps are named", async () => {
    const { service, url } = server();
    const [one, other] = [
      await ranThread(service, "agent", ask("two and three")),
      await ranThread(service, "agent", ask("four and five")),
    ];
    const { page, visit, settled } = await open(url);
    const asked: string[] = [];
    page.on("request", (request) => request.url().includes("/history") && asked.push(request.url()));
    await visit("#/compare");
    await page.getByText("Select two steps").waitFor();
    await settled();
    expect(asked).toEqual([]);
    await visit(`#/compare/${one}@0/${one}@-1`);
    await expect.poll(async () => (await totals(page)).length).toBe(2);
    const late = await held(page, `**/threads/${other}/history`);
    await visit(`#/compare/${one}@0/${other}@-1`);
    await late.asked;
    expect(await totals(page)).toEqual([]);
    late.release();
    await page.getByText("No common steps.").waitFor();
  });

  it("of two threads pairs steps by node, and reports unknown threads and steps", async () => {
    const { service, url } = server();
    const one = await ranThread(service, "agent", ask("two and three"));
    const other = await ranThread(service, "agent", ask("four and five"));
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit(`#/compare/${one}@-1/${other}@3`);
    await page.getByText("No common steps.").waitFor();
    const badges = page.locator(".pair .badge");
    await expect
      .poll(() => badges.allTextContents())
      .toEqual(["same values", "differs", "differs", "differs", "differs"]);
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
    await visit(`#/compare/${one}@99/${other}@-1`);
    await page.getByRole("alert").getByText(`thread "${one}" has no step "99"`).waitFor();
    await visit(`#/compare/${encodeURIComponent(HOSTILE)}/${other}@-1`);
    await page.getByRole("alert").waitFor();
    expect(await page.locator("main :is(img, iframe)").count()).toBe(0);
  });
});

describeWithChromium("comparing files", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent } });
  let project: ThreadProject;
  beforeAll(async () => {
    project = await createThreadProject(`hello ${HOSTILE}`);
  });
  afterAll(() => project.remove());

  it("compares saved and exported threads with each other and with threads of the server", async () => {
    const { threadId } = project;
    const html = (await project.run(["replay", threadId, "--format", "html"])).stdout;
    const json = (await project.run(["export", threadId])).stdout;
    const { service, url } = server();
    const thread = await ranThread(service, "agent", ask("two and three"));
    const { page, visit } = await open(url);
    await visit("#/compare");
    const choose = async (label: string, name: string, text: string) => {
      const asking = page.waitForEvent("filechooser");
      await page.getByRole("button", { name: label }).click();
      await (
        await asking
      ).setFiles({
        name,
        mimeType: "application/octet-stream",
        buffer: Buffer.from(text),
      });
    };
    await choose("Open a file as the first", "old@home.html", html);
    await expect
      .poll(() => page.getByLabel("first", { exact: true }).inputValue())
      .toBe("file:old@home.html@-1");
    await choose("Open a file as the second", "new.json", json);
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByText("No differences.").waitFor();
    expect(await page.getByRole("group", { name: /^Copy/ }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel("first", { exact: true }).fill("file:old@home.html@0");
    await page.getByLabel("second", { exact: true }).fill(`${thread}@-1`);
    await page.keyboard.press("Enter");
    await page.getByText("No common steps.").waitFor();
    await page.locator(".pair .badge", { hasText: "differs" }).first().waitFor();
    expect(await page.locator("main :is(img, iframe)").count()).toBe(0);
    await page.reload();
    await page.getByRole("alert").getByText('The file "old@home.html" is not open in this tab').waitFor();
  });

  it("shows the time and tokens that the files contain", async () => {
    const { threadId } = project;
    await project.run(["run", "--thread", threadId, "--resume", '"5"']);
    const html = (await project.run(["replay", threadId, "--format", "html"])).stdout;
    const exported = JSON.parse((await project.run(["export", threadId])).stdout) as ThreadFile;
    // One second between steps; the run started half a second before its last step.
    const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
    for (const [second, state] of exported.states.entries()) state.created_at = at(second);
    for (const run of exported.runs) run.created_at = at(exported.states.length - 1.5);
    const { page, visit } = await open(server().url);
    await visit("#/compare");
    const inputs = page.locator("input[type=file]");
    const mimeType = "application/octet-stream";
    await inputs
      .first()
      .setInputFiles({ name: "a.json", mimeType, buffer: Buffer.from(JSON.stringify(exported)) });
    await inputs.last().setInputFiles({ name: "b.html", mimeType, buffer: Buffer.from(html) });
    const first = page.getByLabel("first", { exact: true });
    await expect.poll(() => first.inputValue()).toBe("file:a.json@-1");
    await expect.poll(() => page.getByLabel("second", { exact: true }).inputValue()).toBe("file:b.html@-1");
    await first.fill("file:a.json@1");
    await page.keyboard.press("Enter");
    await page.getByText("Common steps: 3").waitFor();
    await expect
      .poll(() => totals(page))
      .toEqual([
        ["first", "1 reply", "0", "0 ms", "0"],
        ["second", "5 pay", "4", expect.stringMatching(/ m?s$/), "–"],
      ]);
    await page.getByLabel("second", { exact: true }).fill("file:a.json@-1");
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await totals(page))[1]).toEqual(["second", "5 pay", "4", "2.5 s", "0"]);
  });

  it("with many steps compares them on demand and reports truncation", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/compare");
    const choose = async (left: string, right: string) => {
      const inputs = page.locator("input[type=file]");
      const fileOf = (name: string, text: string) => ({
        name,
        mimeType: "application/json",
        buffer: Buffer.from(text),
      });
      await inputs.first().setInputFiles(fileOf("left.json", left));
      await inputs.last().setInputFiles(fileOf("right.json", right));
      for (const side of ["first", "second"])
        await expect.poll(() => page.getByLabel(side, { exact: true }).inputValue()).not.toBe("");
      await page.getByRole("button", { name: "Compare", exact: true }).click();
    };
    await choose(exportedThread("a", 40), exportedThread("b", 40));
    const pairs = page.locator(".pair");
    await expect.poll(() => pairs.count()).toBe(40);
    await pairs.nth(29).locator(".change").first().waitFor();
    await pairs.last().locator(".change").first().waitFor();
    const further = page.getByRole("button", { name: "Compare these steps" });
    await expect.poll(() => further.count()).toBe(9);
    await further.first().click();
    await pairs.nth(30).getByText("differs").waitFor();
    await expect.poll(() => further.count()).toBe(8);
    await visit("#/compare");
    await choose(exportedThread("a", 5100), exportedThread("a", 5200));
    await page.getByText("Only the newest 5,000 steps of a thread are compared.").waitFor();
    await visit("#/compare/file:left.json@3/file:right.json@-1");
    await page
      .getByRole("alert")
      .getByText(/step "3" is not among the newest 5,000 of thread/)
      .waitFor();
  });

  it("rejects a file without a thread and gives the reason", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/compare");
    for (const [text, why] of [
      ["{}", "it is not an exported thread"],
      ["<p>page</p>", "it is not an exported thread"],
      ['{"format":"graph-serve/thread","version":99}', "it has version 99"],
    ] as const) {
      await page
        .locator("input[type=file]")
        .first()
        .setInputFiles({
          name: "x.json",
          mimeType: "application/json",
          buffer: Buffer.from(text),
        });
      await page.getByRole("alert").getByText(`x.json is not a thread: ${why}`).waitFor();
    }
    expect(await violationsOf(page)).toEqual([]);
  });
});
