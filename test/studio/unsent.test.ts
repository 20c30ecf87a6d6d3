/** What was entered and not sent: input, answers and drafts stay while other things are shown. */
import { Annotation, interrupt, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { fillJson, held, jsonIn, ranThread, useBrowser, useServer } from "./open.js";

const State = Annotation.Root({ answers: Annotation<unknown> });
const args = { to: "ada" };
const asks = (value: unknown) =>
  new StateGraph(State)
    .addNode("ask", () => ({ answers: interrupt(value) }))
    .addEdge(START, "ask")
    .compile();
const tools = {
  actionRequests: ["send", "keep"].map((name) => ({ name, args })),
  reviewConfigs: [],
};
const review = asks(tools);
const both = new StateGraph(State)
  .addNode("ask", () => ({ answers: interrupt("Name?") }))
  .addNode("review", () => ({ answers: interrupt(tools) }))
  .addEdge(START, "ask")
  .addEdge(START, "review")
  .compile();
const choice = asks({ question: "Which?", options: ["red", "blue"] });
const form = asks({
  question: "Who?",
  schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
});
const optionalQuestion = {
  question: "Who?",
  schema: { type: "object", properties: { name: { type: "string" } } },
};
const optional = asks(optionalQuestion);
const optionalAndText = new StateGraph(State)
  .addNode("ask", () => ({ answers: interrupt(optionalQuestion) }))
  .addNode("name", () => ({ answers: interrupt("Name?") }))
  .addEdge(START, "ask")
  .addEdge(START, "name")
  .compile();

const say = (content: string) => ({ messages: [{ role: "user", content }] });
const box = (page: Page) => page.getByRole("textbox", { name: "Message to the graph" });
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const view = (page: Page, name: string) =>
  page.getByRole("navigation", { name: "Views of the thread" }).getByRole("link", { name });
const stored = (page: Page) => page.evaluate<string>("JSON.stringify(sessionStorage)");
const earlierIn = (page: Page, graph: string) =>
  page.evaluate<string | null>(`sessionStorage.getItem("graph-serve.inputs.${graph}")`);

describeWithChromium("what was entered and not sent", () => {
  const open = useBrowser();
  const server = useServer({
    graphs: { agent, both, choice, form, hitl, optional, optionalAndText, review, steps },
    settings: { list_all_assistants: true },
  });

  it("stays after a reload, with its thread", async () => {
    const { service, url } = server();
    const [one, two] = [
      await ranThread(service, "agent", say("one")),
      await ranThread(service, "agent", say("two")),
    ];
    const { page, visit } = await open(url);
    await visit(`#/run/${one}`);
    await box(page).fill("of thread one");
    await visit(`#/run/${two}`);
    await expect.poll(() => box(page).inputValue()).toBe("");
    await box(page).fill("of thread two");
    await view(page, "Steps").click();
    await button(page, "Run").click();
    await expect.poll(() => box(page).inputValue()).toBe("of thread two");
    await visit("#/run?graph=agent");
    await expect.poll(() => box(page).inputValue()).toBe("");
    await box(page).fill("of no thread");
    await page.reload();
    await expect.poll(() => box(page).inputValue()).toBe("of no thread");
    await visit(`#/run/${one}`);
    await expect.poll(() => box(page).inputValue()).toBe("of thread one");
    await page.getByRole("tab", { name: "JSON" }).click();
    await fillJson(page.getByRole("textbox", { name: "Input as JSON" }), '{"messages": [');
    await page.reload();
    await page.getByText("Invalid JSON: line 1, column").waitFor();
    await page.getByRole("tab", { name: "JSON" }).click();
    expect(await jsonIn(page.getByRole("textbox", { name: "Input as JSON" }))).toBe('{"messages": [');
  });

  it("is gone once it was sent", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    await visit("#/run?graph=agent");
    await box(page).fill("two and three");
    await page.keyboard.press("Enter");
    await page.locator(".status", { hasText: /^done/ }).waitFor();
    expect(await box(page).inputValue()).toBe("");
    await page.locator(".thread-head").getByText("New thread").click();
    await page.getByRole("heading", { level: 1, name: "New thread" }).waitFor();
    expect(await box(page).inputValue()).toBe("");
    await page.reload();
    await expect.poll(() => box(page).inputValue()).toBe("");
  });

  it("is gone from the thread that it was sent to, and stays in the one that is shown meanwhile", async () => {
    const { service, url } = server();
    const [one, two] = [
      await ranThread(service, "agent", say("one")),
      await ranThread(service, "steps", { n: 8 }),
    ];
    const { page, visit } = await open(url);
    const number = page.getByRole("textbox", { name: "n", exact: true });
    const title = (name: string) => page.getByRole("heading", { level: 1, name }).waitFor();
    for (const [from, name] of [
      [`#/run/${one}`, "one"],
      ["#/run?graph=agent", "New thread"],
    ] as const) {
      await visit(from);
      await title(name);
      await box(page).fill("two and three");
      const send = await held(page, "**/runs/stream");
      await page.keyboard.press("Enter");
      await send.asked;
      await visit(`#/run/${two}`);
      await number.fill("4");
      send.release();
      await send.answered;
      await expect.poll(() => earlierIn(page, "agent")).toContain("two and three");
      expect(await earlierIn(page, "steps")).toBeNull();
      expect(await number.inputValue()).toBe("4");
      expect(page.url()).toContain(two);
      await visit(from);
      await title(name);
      await box(page).waitFor();
      expect(await box(page).inputValue()).toBe("");
    }
  });

  it("stays in a form that was run, for the next thread", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    await visit("#/run?graph=steps");
    await page.getByRole("textbox", { name: "n", exact: true }).fill("8");
    await button(page, "Run").click();
    await page.getByText(/^done/).waitFor();
    expect(await page.getByRole("textbox", { name: "n", exact: true }).inputValue()).toBe("8");
    await page.locator(".thread-head").getByText("New thread").click();
    await page.getByRole("heading", { level: 1, name: "New thread" }).waitFor();
    expect(await page.getByRole("textbox", { name: "n", exact: true }).inputValue()).toBe("8");
  });

  it("of a field that is not a number stays in the form, and the other views say what is wrong", async () => {
    const { page, visit } = await open(server().url);
    await visit("#/run?graph=steps");
    const field = page.getByRole("textbox", { name: "n", exact: true });
    await field.fill("8x");
    const isInvalid = () => field.getAttribute("aria-invalid");
    await expect.poll(isInvalid).toBe("true");
    await page.getByRole("tab", { name: "JSON" }).click();
    await page.getByText("Invalid number in the field n of the form").waitFor();
    await page.getByRole("tab", { name: "Form" }).click();
    expect(await field.inputValue()).toBe("8x");
    expect(await isInvalid()).toBe("true");
    await page.reload();
    await expect.poll(() => field.inputValue()).toBe("8x");
    expect(await isInvalid()).toBe("true");
    await field.fill("8");
    await button(page, "Run").click();
    await page.getByText(/^done/).waitFor();
  });

  it("of an answer stays while the steps are shown, until it is sent", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const away = async () => {
      await view(page, "Steps").click();
      await page.getByRole("listbox", { name: "Steps" }).waitFor();
      await view(page, "Conversation").click();
    };
    const text = await ranThread(service, "hitl", { topic: "tea" });
    await visit(`#/run/${text}`);
    const answer = page.getByRole("group", { name: "The graph asks" }).getByLabel("Answer");
    await answer.fill("half an answer");
    await away();
    expect(await answer.inputValue()).toBe("half an answer");
    await visit(`#/inbox/${text}`);
    expect(await answer.inputValue()).toBe("half an answer");

    await visit(`#/run/${await ranThread(service, "choice", {})}`);
    await page.getByLabel("blue").check();
    await away();
    expect(await page.getByLabel("blue").isChecked()).toBe(true);

    await visit(`#/run/${await ranThread(service, "form", {})}`);
    await page.getByLabel(/^name/).fill("Ada");
    await away();
    expect(await page.getByLabel(/^name/).inputValue()).toBe("Ada");

    const reviewed = await ranThread(service, "review", {});
    await visit(`#/run/${reviewed}`);
    const requests = page.locator(".request");
    await requests.nth(0).getByLabel("Edit").check();
    await fillJson(requests.nth(0).getByLabel("Arguments of send"), '{"to": "grace"}');
    await requests.nth(1).getByLabel("Reject").check();
    await requests.nth(1).getByLabel("Reason").fill("not today");
    await away();
    expect(await jsonIn(requests.nth(0).getByLabel("Arguments of send"))).toContain("grace");
    expect(await requests.nth(1).getByLabel("Reason").inputValue()).toBe("not today");
    await button(page, "Answer").click();
    await page.getByText(/^done/).waitFor();
    expect((await service.state.get(reviewed)).values).toMatchObject({
      answers: {
        decisions: [
          { type: "edit", editedAction: { name: "send", args: { to: "grace" } } },
          { type: "reject", message: "not today" },
        ],
      },
    });
    // The same question again.
    await service.runs.create(reviewed, { assistant_id: "review", input: {} });
    await requests.first().waitFor();
    expect(await requests.getByRole("radio", { checked: true }).count()).toBe(0);
    expect(await stored(page)).not.toContain("half an answer");
  });

  it("of a form goes to the inbox, which shows the question without the schema, too", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const id = await ranThread(service, "form", {});
    for (const place of [`#/run/${id}`, `#/inbox/${id}`]) {
      await visit(place);
      const question = page.getByRole("group", { name: "The graph asks" });
      await question.getByLabel(/^name/).waitFor();
      expect(await question.textContent()).toContain("Who?");
      expect(await question.textContent()).not.toContain("schema");
    }
  });

  it("of a form without required fields can be nothing, unless there are other questions", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    const id = await ranThread(service, "optional", {});
    await visit(`#/run/${id}`);
    await page.getByLabel("name").waitFor();
    await button(page, "Answer").click();
    await page.getByText(/^done/).waitFor();
    expect((await service.state.get(id)).values).toMatchObject({ answers: {} });
    const two = await ranThread(service, "optionalAndText", {});
    await visit(`#/run/${two}`);
    await page.getByLabel("Answer", { exact: true }).fill("Ada");
    await page.getByText("1 of 2 answered; the others stay pending").waitFor();
  });

  it("of a question that was not answered yet stays when another one is answered", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit(`#/run/${await ranThread(service, "both", {})}`);
    await page.getByLabel("Answer", { exact: true }).fill("Ada");
    await page.getByLabel("Reject").first().check();
    await page.getByLabel("Reason").fill("not today");
    await button(page, "Answer").click();
    await page.getByRole("group", { name: "The graph asks" }).waitFor();
    expect(await page.getByLabel("Reason").inputValue()).toBe("not today");
  });

  it("of a fork stays while another view is shown, and when a newer step arrives", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?fork=1`);
    await button(page, "Edit n").click();
    const editor = page.getByLabel("Value to write to n");
    await fillJson(editor, "6");
    const rows = page.getByRole("listbox", { name: "Steps" }).getByRole("option");
    const count = await rows.count();
    await service.runs.create(id, { assistant_id: "steps", input: { n: 9 } });
    await expect.poll(() => rows.count()).toBeGreaterThan(count);
    await page.getByRole("heading", { name: "From step" }).waitFor();
    expect(await jsonIn(editor)).toBe("6");
    await view(page, "Conversation").click();
    await expect.poll(() => editor.count()).toBe(0);
    await page.goBack();
    await expect.poll(() => jsonIn(editor)).toBe("6");
    const fork = page.getByRole("region", { name: "Fork" });
    await fork.getByRole("link", { name: "Close" }).click();
    await expect.poll(() => fork.count()).toBe(0);
    await page.keyboard.press("f");
    await button(page, "Edit n").waitFor();
    expect(await editor.count()).toBe(0);
  });
});
