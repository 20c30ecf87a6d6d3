/** Several answers to one interrupt, tried on copies of the thread and compared. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
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

describeWithChromium("answers tried on copies", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { asker, two }, settings: { list_all_assistants: true } });

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
    expect(await list.getByText("failed: ").textContent()).toMatch(/failed: (Error: )?no such answer$/);
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
