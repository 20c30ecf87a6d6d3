/** Answering interrupts in the Studio, breakpoints, and single-stepping by superstep. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { questionOf, resumeOf, reviewAnswer } from "../../studio/state/questions.js";
import { FakeModel } from "../fixtures/fake-model.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { expectCopied, fillJson, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const State = Annotation.Root({
  question: Annotation<unknown>,
  answers: Annotation<unknown[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});

/** Interrupts with the question from its input. */
const asker = new StateGraph(State)
  .addNode("ask", ({ question }) => ({ answers: [interrupt(question)] }))
  .addEdge(START, "ask")
  .addEdge("ask", END)
  .compile({ name: "asker" });

/** Interrupts twice in the same superstep. */
const two = new StateGraph(State)
  .addNode("left", () => ({ answers: [{ left: interrupt<string, string>("Left?") }] }))
  .addNode("right", () => ({ answers: [{ right: interrupt<string, string>("Right?") }] }))
  .addEdge(START, "left")
  .addEdge(START, "right")
  .compile({ name: "two" });

/** A graph that is invoked by the function of a node. */
const calling = new StateGraph(State)
  .addNode("call", (state) => two.invoke(state), { subgraphs: [two] })
  .addEdge(START, "call")
  .addEdge("call", END)
  .compile({ name: "calling" });

const sent: unknown[] = [];
const reviewed = createAgent({
  model: new FakeModel((messages) => {
    if (messages.at(-1)?.type === "tool") return "It is done.";
    const call = (id: string, to: string) => ({ name: "send", args: { to }, id, type: "tool_call" as const });
    return { text: "", toolCalls: [call("c1", "ada"), call("c2", "bo")] };
  }),
  tools: [
    tool(
      (input) => {
        sent.push(input);
        return "sent";
      },
      { name: "send", description: "Sends a letter.", schema: z.object({ to: z.string() }) },
    ),
  ],
  middleware: [
    humanInTheLoopMiddleware({ interruptOn: { send: { allowedDecisions: ["approve", "edit", "reject"] } } }),
  ],
});

const answersOf = async (
  page: Page,
  service: ReturnType<ReturnType<typeof useServer>>["service"],
  id: string,
) => {
  await page.getByText(/^done/).first().waitFor();
  return ((await service.state.get(id)).values as { answers: unknown[] }).answers;
};
const answer = (page: Page) => page.getByRole("button", { name: "Answer", exact: true });

describeWithChromium("an interrupt in the Studio", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { asker, calling, hitl, reviewed, steps, subgraph, two },
    settings: { list_all_assistants: true },
  });

  it("is answered with text or JSON, a choice, or a form from its schema", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const asked = (question: unknown) => ranThread(service, "asker", { question });
    const free = await asked({ question: "How many?" });
    await visit(`#/run/${free}`);
    await page.getByText("How many?").first().waitFor();
    await page.getByRole("group", { name: "The graph asks" }).getByLabel("Answer").fill("3");
    await answer(page).click();
    expect(await answersOf(page, service, free)).toEqual([3]);

    const choice = await asked({ question: "Which?", options: ["red", "blue"] });
    await visit(`#/run/${choice}`);
    await page.getByLabel("blue").check();
    // Each choice is shown only once.
    const group = page.getByRole("group", { name: "The graph asks" });
    expect((await group.innerText()).split("\n").filter(Boolean)).toEqual([
      "The graph asks",
      "Which?",
      "red",
      "blue",
    ]);
    await answer(page).click();
    expect(await answersOf(page, service, choice)).toEqual(["blue"]);

    const schema = {
      type: "object",
      properties: { name: { type: "string" }, age: { type: "integer" } },
      required: ["name"],
    };
    const form = await asked({ question: "Who?", schema });
    await visit(`#/run/${form}`);
    await page.getByLabel(/^name/).fill("Ada");
    await page.getByLabel("age", { exact: true }).fill("36");
    await answer(page).click();
    expect(await answersOf(page, service, form)).toEqual([{ name: "Ada", age: 36 }]);
  });

  it("is not answered without the required fields of its form, which say so", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const home = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const schema = {
      type: "object",
      properties: {
        ...{ name: { type: "string" }, age: { type: "integer" }, home },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["name", "home", "tags"],
    };
    const id = await ranThread(service, "asker", { question: { question: "Who?", schema } });
    await visit(`#/run/${id}`);
    const missing = page.getByText("Enter a value: the question requires this field.");
    await answer(page).press("Enter");
    await expect.poll(() => missing.count()).toBe(2);
    await page.getByLabel("age", { exact: true }).fill("36");
    await answer(page).press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.labels?.[0].textContent")).toMatch(/^name/);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.type("Ada");
    await expect.poll(() => missing.count()).toBe(1);
    await answer(page).press("Enter");
    await expect.poll(() => page.evaluate("document.activeElement.labels?.[0].textContent")).toMatch(/^city/);
    await page.keyboard.type("Turin");
    expect((await service.threads.get(id)).status).toBe("interrupted");
    await answer(page).press("Enter");
    const value = { name: "Ada", age: 36, home: { city: "Turin" }, tags: [] };
    expect(await answersOf(page, service, id)).toEqual([value]);
  });

  it("of the review middleware is answered per tool call: approve, edit or reject", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "reviewed", { messages: [{ role: "user", content: "write" }] });
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    const first = page.locator(".request").nth(0);
    const second = page.locator(".request").nth(1);
    await first.getByLabel("Edit").check();
    await fillJson(first.getByLabel("Arguments of send"), '{"to": "grace"}');
    expect(await answer(page).getAttribute("aria-disabled")).toBe("true");
    await second.getByLabel("Approve").check();
    await answer(page).click();
    await page.getByText("It is done.").waitFor();
    expect(sent).toEqual(expect.arrayContaining([{ to: "grace" }, { to: "bo" }]));
    const other = await ranThread(service, "reviewed", { messages: [{ role: "user", content: "write" }] });
    // The inbox shows the messages before the question.
    await visit(`#/inbox/${other}`);
    await page.locator(".asker .said.is-human").getByText("write").waitFor();
    await page.locator(".asker").getByRole("region", { name: "calls send" }).first().waitFor();
    await first.getByLabel("Approve").check();
    await second.getByLabel("Reject").check();
    await second.getByLabel("Reason").fill("not today");
    await answer(page).click();
    await visit(`#/run/${other}`);
    await page.getByRole("region", { name: "calls send" }).getByText("not today").waitFor();
  });

  it("in agent inbox format is answered per request with the allowed decisions", async () => {
    const { service, url } = server();
    const request = (to: string, ...allowed: string[]) => ({
      action_request: { action: "send", args: { to } },
      config: Object.fromEntries(
        ["accept", "edit", "respond", "ignore"].map((each) => [`allow_${each}`, allowed.includes(each)]),
      ),
      description: `A letter to **${to}**`,
    });
    const question = [
      request("ada", "accept", "ignore"),
      request("bo", "edit", "respond"),
      request("cy", "respond"),
      request("di", "accept", "ignore"),
    ];
    const id = await ranThread(service, "asker", { question });
    const { page, visit } = await open(url);
    await visit(`#/inbox/${id}`);
    const asking = page.locator(".asker").filter({ hasText: id.slice(0, 13) });
    const requests = asking.locator(".request");
    await expect.poll(() => requests.count()).toBe(4);
    expect(await requests.nth(0).getByRole("radio").count()).toBe(2);
    expect(await requests.nth(1).textContent()).toMatch(/send.*A letter to.*bo.*Edit.*Respond/s);
    expect(await violationsOf(page)).toEqual([]);
    const send = asking.getByRole("button", { name: "Answer", exact: true });
    await requests.nth(0).getByLabel("Approve").check();
    await requests.nth(1).getByLabel("Edit").check();
    await fillJson(requests.nth(1).getByLabel("Arguments of send"), '{"to": "bob"}');
    await requests.nth(2).getByRole("radio").check();
    await requests.nth(3).getByLabel("Ignore").check();
    expect(await send.getAttribute("aria-disabled")).toBe("true");
    await requests.nth(2).getByRole("textbox").fill("later");
    await send.click();
    await expect.poll(() => asking.count()).toBe(0);
    const answers = [
      { type: "accept", args: { action: "send", args: { to: "ada" } } },
      { type: "edit", args: { action: "send", args: { to: "bob" } } },
      { type: "response", args: "later" },
      { type: "ignore", args: null },
    ];
    await expect.poll(async () => (await service.state.get(id)).values).toMatchObject({ answers: [answers] });
  });

  it("with several questions is answered by their ids", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "two", {});
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    await page.getByRole("group", { name: "Question 1 of 2" }).getByLabel("Answer").fill("one");
    await page.getByText("1 of 2 answered").waitFor();
    await page.getByRole("group", { name: "Question 2 of 2" }).getByLabel("Answer").fill("two");
    await answer(page).click();
    const answers = await answersOf(page, service, id);
    expect(answers).toHaveLength(2);
    const texts = answers.flatMap((each) => Object.values(each as Record<string, string>));
    expect(texts.sort()).toEqual(["one", "two"]);
  });

  it("is listed in the inbox and can be answered there", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "hitl", { topic: "tea" });
    const { page, visit } = await open(url);
    await ranThread(service, "hitl", { topic: "coffee" });
    await visit("#/inbox");
    await page
      .locator(".inbox-row")
      .filter({ hasText: id.slice(0, 13) })
      .click();
    const asking = page.locator(".asker").filter({ hasText: id.slice(0, 13) });
    await asking.getByText("Approve?").waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await asking.getByLabel("Answer", { exact: true }).fill("yes");
    await asking.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(() => asking.count()).toBe(0);
    await expect.poll(async () => (await service.state.get(id)).values).toMatchObject({ answer: "yes" });
  });

  it("list in the inbox is paged, and the loaded ones remain when one is answered", async () => {
    const { service, url } = server();
    const metadata = { graph_id: "hitl" };
    const ids = [];
    for (let count = 0; count < 60; count += 1)
      ids.push(await ranThread(service, "hitl", { topic: `${count}` }, metadata));
    const { page, visit } = await open(url);
    await visit("#/inbox");
    const askers = page.locator(".inbox-row");
    await expect.poll(() => askers.count()).toBeGreaterThanOrEqual(50);
    await page.locator(".list-end").scrollIntoViewIfNeeded();
    await expect.poll(() => askers.count()).toBeGreaterThanOrEqual(60);
    await page.getByText("End of the list.").waitFor();
    const count = await askers.count();
    await expect
      .poll(() => page.locator(".list-end").textContent())
      .toContain(`${count} of ${count} waiting`);
    const last = page.locator(".asker");
    const id = (await askers.last().textContent()) ?? "";
    await askers.last().click();
    const [, shown = ""] = / · ([\da-f-]{13})/.exec(id) ?? [];
    await last.getByText(shown, { exact: true }).waitFor();
    await last.getByLabel("Answer", { exact: true }).fill("yes");
    await last.getByRole("button", { name: "Answer", exact: true }).click();
    await expect.poll(() => askers.count()).toBe(count - 1);
    expect(ids).toHaveLength(60);
  });

  it("at a breakpoint set in the drawing can be continued by one superstep or resumed", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=hitl");
    const node = page.getByRole("button", { name: "Stop before plan" });
    await node.focus();
    await page.keyboard.press("b");
    await expect.poll(() => node.getAttribute("aria-pressed")).toBe("true");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Stopped before plan").waitFor();
    // On a narrow screen, no element covers the button that continues the run.
    await page.setViewportSize({ width: 390, height: 844 });
    const bottomOf = async (name: string) => {
      const box = await page.getByRole("button", { name }).boundingBox();
      return (box?.y ?? Infinity) + (box?.height ?? 0);
    };
    const composer = page.locator(".composer");
    await expect
      .poll(async () => (await bottomOf("One superstep")) <= ((await composer.boundingBox())?.y ?? 0))
      .toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
    const step = page.getByRole("group", { name: "Copy one superstep as" });
    await expectCopied(step, "curl", /POST .*\/runs\/stream .*"interrupt_after":/);
    await page.locator("main").press(".");
    await page.getByText("Stopped before ask").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("Approve?").first().waitFor();
  });

  it("is not claimed of a run that failed between two steps, which can be resumed", async () => {
    const { service, url } = server();
    const { thread_id } = await service.threads.create({});
    const config = { recursion_limit: 2 };
    await service.runs.create(thread_id, { assistant_id: "steps", input: { n: 6 }, config });
    const { page, visit } = await open(url);
    await visit(`#/threads/${thread_id}`);
    await expect
      .poll(() => page.locator("[data-failed]").allInnerTexts())
      .toEqual([expect.stringContaining("Failed before step")]);
    await visit(`#/run/${thread_id}`);
    await page.getByText("Failed before step").waitFor();
    expect(await page.getByText("Stopped before").count()).toBe(0);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText(/^done/).waitFor();
  });

  it("at a breakpoint in a subgraph can be stepped, and a node without a subgraph is rejected", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=subgraph");
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("hello");
    const node = page.getByRole("button", { name: "Stop before child:leaf:leaf_start" });
    await node.press("b");
    await expect.poll(() => node.getAttribute("aria-pressed")).toBe("true");
    expect(await page.getByRole("button", { name: /Stop before .*(start|end)__/ }).count()).toBe(0);
    await page.locator("summary", { hasText: "Breakpoints" }).click();
    await page.getByLabel("Stop after child", { exact: true }).waitFor();
    expect(
      await page.getByLabel("Stop before child:leaf:leaf_start", { exact: true }).first().isVisible(),
    ).toBe(true);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByText("Stopped before child:leaf:leaf_start").waitFor();
    const id = /#\/run\/([\w-]+)/.exec(page.url())?.[1] ?? "";
    await visit(`#/inbox/${id}`);
    const waiting = page.locator(".asker").filter({ hasText: id.slice(0, 13) });
    await waiting.getByText("Stopped before child:leaf:leaf_start").waitFor();
    await visit(`#/run/${id}`);
    await page.getByText("Stopped before child:leaf:leaf_start").waitFor();
    await page.locator("main").press(".");
    await page.getByText("Stopped before child:leaf:leaf_end").waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("closed", { exact: true }).waitFor();
    await visit("#/run?graph=calling");
    await page.getByRole("button", { name: "Stop before call:left" }).press("b");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page
      .getByRole("alert")
      .getByText(/the node "call" is not a subgraph; a graph that its function calls/)
      .waitFor();
  });
});

describe("the resume value", () => {
  const config = { allow_accept: true, allow_edit: true, allow_respond: true, allow_ignore: false };
  const request = { action_request: { action: "send", args: { to: "ada" } }, config };

  it("for an agent inbox request is a list of responses in its wire format", () => {
    const question = questionOf([request]);
    if (question.kind !== "review") throw new Error("this is a review");
    expect(question.requests[0]?.allowed).toEqual(["approve", "edit", "respond"]);
    const answers = [
      { kind: "approve" as const },
      { kind: "edit" as const, args: { to: "bo" } },
      { kind: "respond" as const, message: "later" },
      { kind: "ignore" as const },
    ].map((decision) => reviewAnswer(question, [decision]));
    expect(answers).toEqual([
      [{ type: "accept", args: { action: "send", args: { to: "ada" } } }],
      [{ type: "edit", args: { action: "send", args: { to: "bo" } } }],
      [{ type: "response", args: "later" }],
      [{ type: "ignore", args: null }],
    ]);
    expect(questionOf(request).kind).toBe("review");
  });

  it("form omits the call if the middleware description repeats it", () => {
    const described = (description: string) => {
      const question = questionOf({ actionRequests: [{ name: "send", args: { to: "ada" }, description }] });
      return question.kind === "review" && question.requests[0]?.description;
    };
    const call = 'Tool: send\nArgs: {\n  "to": "ada"\n}';
    expect(described(`Tool execution requires approval\n\n${call}`)).toBe("Tool execution requires approval");
    expect(described("Send it?\n\nTool: a hammer")).toBe("Send it?\n\nTool: a hammer");
  });

  it("for the Python middleware uses snake_case keys", () => {
    const question = questionOf({
      action_requests: [{ name: "send", args: {} }],
      review_configs: [{ action_name: "send", allowed_decisions: ["edit"] }],
    });
    if (question.kind !== "review") throw new Error("this is a review");
    expect(question.requests[0]?.allowed).toEqual(["edit"]);
    expect(reviewAnswer(question, [{ kind: "edit", args: { a: 1 } }])).toEqual({
      decisions: [{ type: "edit", edited_action: { name: "send", args: { a: 1 } } }],
    });
  });

  it("is a single value for one question and a map by id for several", () => {
    expect(resumeOf(new Map([["a", 1]]), 1)).toBe(1);
    expect(resumeOf(new Map([["a", null]]), 1)).toEqual({ a: null });
    expect(resumeOf(new Map([["a", 1]]), 2)).toEqual({ a: 1 });
  });

  it.each([
    ["text"],
    [{ question: "x" }],
    [[1]],
    [null],
    [{ schema: "users" }],
    [{ options: [{}] }],
    [{ action_request: 1, config: {} }],
  ])("for %j is entered as free text", (value) => expect(questionOf(value).kind).toBe("any"));
});
