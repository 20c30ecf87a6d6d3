/** Forking a step: editing messages, reviewing changes, running from the fork, and undoing it. */
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { cli } from "../cli/harness.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import type { Service } from "../../src/service/service.js";
import {
  argumentsOf,
  expectCopied,
  fillJson,
  jsonIn,
  ranThread,
  useBrowser,
  useServer,
  violationsOf,
} from "./open.js";

/** The values of `list` and `log` look like messages. */
const Listing = Annotation.Root({
  list: Annotation<object[]>(),
  log: Annotation<object[]>({ reducer: (all, more) => all.concat(more), default: () => [] }),
});
const listing = new StateGraph(Listing)
  .addNode("fill", () => ({ list: [{ type: "ai", id: "1", content: "a" }], log: [{ type: "ai", id: "2" }] }))
  .addEdge(START, "fill")
  .compile();
const HOSTILE = '"><iframe srcdoc="x"></iframe><img src=x onerror=alert(1)>';

const stepsOf = (page: Page, which: Parameters<Page["getByRole"]>[1] = {}) =>
  page.getByRole("listbox", { name: "Steps" }).getByRole("option", which);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const ask = (content: string) => ({ messages: [{ role: "user", content }] });
const contents = async ({ state }: Service, thread: string): Promise<unknown[]> =>
  ((await state.get(thread)).values as { messages: { content: unknown }[] }).messages.map(
    ({ content }) => content,
  );

describeWithChromium("a fork", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, listing, steps }, settings: { list_all_assistants: true } });

  it("replaces and deletes messages by id, shows the changes, and can be undone", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("two and three"));
    const before = await contents(service, id);
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    await stepsOf(page).first().waitFor();
    await page.keyboard.press("f");
    await page.getByRole("heading", { name: "From step 3" }).waitFor();
    await button(page, "Edit messages").click();
    await page.locator(".fork-messages").getByText("ai: calls add").waitFor();
    await page.getByText("Messages: messages with a known id are replaced").waitFor();
    await button(page, "Delete message 3").click();
    await button(page, "Change message 4").click();
    const editor = page.getByLabel("Value to write to messages");
    await fillJson(editor, (await jsonIn(editor)).replace("The sum is 5", "The sum is six"));
    await page.getByText("Values to send:").click();
    await page.getByText('"type": "remove"').last().waitFor();
    const others = page.getByRole("group", { name: "Copy as" }).first();
    await expectCopied(others, "curl", new RegExp(`POST .*/threads/${id}/state .*The sum is six`, "s"));
    await expectCopied(
      others,
      "SDK call",
      new RegExp(`client.threads.updateState\\("${id}", {.*The sum is six`, "s"),
    );
    await expectCopied(
      others,
      "graph-serve",
      new RegExp(`state set ${id} --checkpoint [\\w-]+ --values '.*six`),
    );
    expect(await violationsOf(page)).toEqual([]);
    await button(page, "Write").click();
    await page.getByText("Written.").waitFor();
    await expect.poll(() => page.locator(".change.is-remove").count()).toBe(1);
    await page.locator(".change.is-replace").getByText("The sum is six").waitFor();
    expect(await contents(service, id)).toEqual([...before.slice(0, 2), "The sum is six"]);
    expect(await violationsOf(page)).toEqual([]);
    const way = page.getByRole("group", { name: "Copy undo as" });
    await expectCopied(way, "curl", new RegExp(`POST .*/threads/${id}/state .*"values":null,"checkpoint":`));
    await expectCopied(
      way,
      "SDK call",
      new RegExp(`client.threads.updateState\\("${id}", .*"values": null`, "s"),
    );
    await button(page, "Undo: back to the other branch").click();
    await expect.poll(() => contents(service, id)).toEqual(before);
    await expect.poll(() => stepsOf(page).count()).toBe(7);
    await expect.poll(() => stepsOf(page).first().textContent()).toMatch(/^4edited/);
  });

  it("shows the position of invalid JSON and the errors of the server", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?fork=1`);
    await button(page, "Edit n").click();
    await page.getByText("Combined: the key's reducer gets this value and the current one.").waitFor();
    const editor = page.getByLabel("Value to write to n");
    await fillJson(editor, "[1,\n 2,");
    await page.getByRole("alert").getByText("Invalid JSON: line 2, column 4").waitFor();
    expect(await button(page, "Write").isDisabled()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    await button(page, "Reset").click();
    const chat = await ranThread(service, "agent", ask("two and three"));
    await visit(`#/threads/${chat}?fork=1`);
    await button(page, "Edit messages").click();
    const message = { type: "remove", id: HOSTILE, content: "" };
    await fillJson(page.getByLabel("Value to write to messages"), JSON.stringify([message]));
    await button(page, "Write").click();
    await page.getByRole("alert").filter({ hasText: HOSTILE }).waitFor();
    expect(await page.locator("main :is(img, iframe, script, b)").count()).toBe(0);
  });

  it("describes writes by the kinds of the state keys that the server reports, not by their values", async () => {
    const { service, url } = server();
    const { channels } = await service.assistants.schemas("listing");
    expect(channels).toMatchObject({ list: { kind: "last_value" }, log: { kind: "reducer" } });
    const id = await ranThread(service, "listing", { list: [] });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?fork=1`);
    await button(page, "Edit list").click();
    await page.getByText("Replaced: this becomes the value.").waitFor();
    expect(await jsonIn(page.getByLabel("Value to write to list"))).toContain('"content": "a"');
    await button(page, "Edit log").click();
    await page.getByText("Combined: the key's reducer gets this value and the current one.").waitFor();
    expect(await page.getByText(/^Messages: /).count()).toBe(0);
  });

  it("can be written and run with the copied commands", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?fork=1`);
    expect(await page.getByRole("group", { name: "Copy write and run as" }).count()).toBe(0);
    await button(page, "Edit n").click();
    await fillJson(page.getByLabel("Value to write to n"), "6");
    await page.getByLabel("Write as node").selectOption("step");
    const both = page.getByRole("group", { name: "Copy write and run as" });
    await expectCopied(
      both,
      "curl",
      new RegExp(
        `^curl --fail-with-body -X POST .*/${id}/state .*"n":6.* &&\ncurl .*/${id}/runs .*"input":null`,
      ),
    );
    await expectCopied(both, "SDK call", /threads\.updateState\(.*\);\nawait client\.runs\.create\(/s);
    const command = await expectCopied(both, "graph-serve", new RegExp(`fork ${id} .*--run --url`));
    const { code, stderr } = await cli(await argumentsOf(command, process.cwd()));
    expect([code, stderr]).toEqual([0, expect.stringContaining("success")]);
    const [newest, ...older] = await service.state.history(id, { limit: 100 });
    expect(newest?.values).toMatchObject({ n: 10 });
    expect(older.find(({ metadata }) => metadata.source === "update")?.values).toMatchObject({ n: 6 });
  });

  it("runs from an edited or unchanged step and keeps the old steps", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const before = (await service.state.history(id, { limit: 100 })).length;
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}?fork=1`);
    await button(page, "Edit n").click();
    await fillJson(page.getByLabel("Value to write to n"), "6");
    await page.getByLabel("Write as node").selectOption("step");
    await button(page, "Write and run").click();
    await expect.poll(async () => ((await service.state.get(id)).values as { n: number }).n).toBe(10);
    await expect.poll(() => stepsOf(page).count()).toBe(before + 5);
    await expect.poll(() => stepsOf(page, { selected: true }).textContent()).toMatch(/^7step/);
    await page.getByRole("listbox", { name: "Steps" }).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("f");
    const others = page.getByRole("group", { name: "Copy as" }).first();
    await expectCopied(others, "curl", new RegExp(`POST .*/threads/${id}/runs .*"checkpoint_id"`));
    await expectCopied(others, "graph-serve", new RegExp(`fork ${id} --checkpoint [\\w-]+ --branch --run`));
    await button(page, "Run unchanged").click();
    // A copy of the step, and the step after it.
    await expect.poll(() => stepsOf(page).count()).toBe(before + 7);
    await expect.poll(() => page.locator(".step .dot:not(.is-path)").count()).toBeGreaterThan(0);
    await page.getByText("The thread continued from an earlier step.").waitFor();
    await page.getByRole("link", { name: "Compare with the other branch" }).click();
    await page.getByText(/Common steps: \d/).waitFor();
    await page.locator(".pair").first().waitFor();
  });
});
