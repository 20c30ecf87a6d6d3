/** Several answers to one interrupt, tried on copies of the thread and compared. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const State = Annotation.Root({
  answers: Annotation<string[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
  outcome: Annotation<string>(),
});
const asker = new StateGraph(State)
  .addNode("ask", () => ({ answers: [interrupt<string, string>("Refund the kettle?")] }))
  .addNode("act", ({ answers }) => {
    if (answers.includes("crash")) throw new Error("no such answer");
    return { outcome: `did ${answers.join(" and ")}` };
  })
  .addEdge(START, "ask")
  .addEdge("ask", "act")
  .addEdge("act", END)
  .compile();
const two = new StateGraph(State)
  .addNode("left", () => ({ answers: [`left ${interrupt<string, string>("Left?")}`] }))
  .addNode("right", () => ({ answers: [`right ${interrupt<string, string>("Right?")}`] }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .compile();
/** Waits at the gate of its answer, unless that is `yes`. */
const slow = new StateGraph(State)
  .addNode("ask", async (_, config) => {
    const outcome = interrupt<string, string>("Refund the kettle?");
    if (outcome !== "yes") await gateOf(outcome).wait(config.signal, false);
    return { outcome };
  })
  .addEdge(START, "ask")
  .compile();

describeWithChromium("answers tried on copies", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { asker, slow, two }, settings: { list_all_assistants: true } });

  it("run beside each other, are compared, and change the thread only when one is chosen", async () => {
    const { service, url } = server();
    const thread = await ranThread(service, "asker", {});
    const before = await service.state.get(thread);
    const { page, visit } = await open(url);
    await visit(`#/run/${thread}`);
    const list = page.getByRole("region", { name: "Answers tried on copies" });
    for (const answer of ["yes", "no", "crash"]) {
      await page.getByLabel("Answer", { exact: true }).fill(answer);
      await page.getByRole("button", { name: "Try on a copy" }).click();
    }
    await expect.poll(() => list.getByRole("listitem").count()).toBe(3);
    await list.getByText("failed: ").waitFor();
    await expect.poll(() => list.getByText("done").count()).toBe(2);
    await expect
      .poll(() => list.getByText("failed: ").textContent())
      .toMatch(/failed: (Error: )?no such answer$/);
    expect(await service.state.get(thread)).toEqual(before);
    const copies = (await service.threads.search({ metadata: { forked_from: thread } })).items;
    expect(copies.map(({ metadata }) => metadata?.answer).sort()).toEqual(["crash", "no", "yes"]);
    expect(copies.every(({ ttl }) => ttl != null)).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await list.getByRole("listitem").nth(1).getByRole("link", { name: "Compare with the first" }).click();
    await page.getByText("did no").first().waitFor();
    await page.goBack();
    await list.getByRole("button", { name: "Choose no" }).click();
    await expect
      .poll(async () => (await service.state.get(thread)).values)
      .toEqual({ answers: ["no"], outcome: "did no" });
    // A copy has the title of the original.
    await visit("#/threads");
    await page.locator("[data-list] tr", { hasText: "copy" }).first().getByRole("link").click();
    await page.getByRole("link", { name: `copy of ${thread.slice(0, 13)}` }).waitFor();
  });

  it("are kept across a reload, and removed with their copies", async () => {
    const { service, url } = server();
    const thread = await ranThread(service, "slow", {});
    const { page, visit } = await open(url);
    await visit(`#/run/${thread}`);
    const list = page.getByRole("region", { name: "Answers tried on copies" });
    const trials = list.getByRole("listitem");
    for (const answer of ["yes", "held"]) {
      await page.getByLabel("Answer", { exact: true }).fill(answer);
      await page.getByRole("button", { name: "Try on a copy" }).click();
    }
    await trials.nth(0).getByText("done").waitFor();
    await gateOf("held").entered;
    await page.reload();
    await trials.nth(0).getByText("done").waitFor();
    await trials.nth(1).getByText("running").waitFor();
    gateOf("held").open();
    await trials.nth(1).getByText("done").waitFor();
    const copies = (await service.threads.search({ metadata: { forked_from: thread } })).items;
    await service.threads.delete(copies.find(({ metadata }) => metadata?.answer === "yes")?.thread_id ?? "");
    await page.reload();
    await expect.poll(() => trials.count()).toBe(1);
    await list.getByRole("button", { name: "Choose held" }).click();
    await expect
      .poll(async () => (await service.state.get(thread)).values)
      .toMatchObject({ outcome: "held" });
  });

  it("answer several interrupts at once", async () => {
    const { service, url } = server();
    const thread = await ranThread(service, "two", {});
    const { page, visit } = await open(url);
    await visit(`#/run/${thread}`);
    await page.getByLabel("Answer", { exact: true }).first().fill("a");
    const start = page.getByRole("button", { name: "Try on a copy" });
    expect(await start.getAttribute("aria-disabled")).toBe("true");
    await page.getByLabel("Answer", { exact: true }).last().fill("b");
    await start.click();
    const list = page.getByRole("region", { name: "Answers tried on copies" });
    await list.getByText("done").waitFor();
    const [copy] = (await service.threads.search({ metadata: { forked_from: thread } })).items;
    const { values } = await service.state.get(copy?.thread_id ?? "");
    expect(values).toMatchObject({ answers: ["left a", "right b"] });
  });
});
