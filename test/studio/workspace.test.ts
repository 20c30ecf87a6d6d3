/** The window around a thread: its header, panes, shortcuts and search. */
import { expect, it } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { fillJson, jsonIn, ranThread, useBrowser, useServer, violationsOf } from "./open.js";

const ask = (content: string) => ({ messages: [{ role: "user", content }] });

describeWithChromium("a thread", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, fail, steps }, settings: { list_all_assistants: true } });

  it("has a title and two views, whose panes are resized and keep their width", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("Where is my order?"));
    const { page, visit } = await open(url);
    await visit(`#/run/${id}`);
    await page.getByRole("heading", { level: 1, name: "Where is my order?" }).waitFor();
    const grip = page.getByRole("separator", { name: "Width of the conversation" });
    await grip.press("ArrowLeft");
    const wider = "496";
    await expect.poll(() => grip.getAttribute("aria-valuenow")).toBe(wider);
    const edges = async () => {
      const { x, width } = (await page.locator(".run-main").boundingBox()) ?? { x: 0, width: 0 };
      return [Math.round(width), Math.round(x + width)];
    };
    await expect.poll(edges).toEqual([496, 1280]);
    await page.getByRole("link", { name: "Steps" }).click();
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
    await page.getByRole("heading", { level: 1, name: "Where is my order?" }).waitFor();
    await page.getByRole("separator", { name: "Width of the steps" }).press("ArrowRight");
    expect(await violationsOf(page)).toEqual([]);
    await page.getByRole("link", { name: "Conversation" }).click();
    await expect.poll(() => grip.getAttribute("aria-valuenow")).toBe(wider);
    await page.reload();
    await expect.poll(() => grip.getAttribute("aria-valuenow")).toBe(wider);
  });

  it.each([320, 390])("has the navigation in one row on a phone of %i pixels", async (width) => {
    const { service, url } = server();
    await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url, { width });
    await visit("#/threads");
    await page.getByText("Live").waitFor();
    const links = await page.getByRole("navigation", { name: "Screens" }).getByRole("link").all();
    const boxes = await Promise.all(links.map((link) => link.boundingBox()));
    expect(new Set(boxes.map((box) => box?.y)).size).toBe(1);
    expect(boxes.map((box) => (box?.height ?? 0) >= 44)).toEqual(links.map(() => true));
    if (width === 390) expect((boxes.at(-1)?.x ?? 0) + (boxes.at(-1)?.width ?? 0)).toBeLessThanOrEqual(width);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
  });

  it("has the header of a thread in two rows on a phone, and controls that are large enough to tap", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", { messages: [{ role: "user", content: "two and three" }] });
    const { page, visit } = await open(url, { width: 390 });
    const controls = [".bar :is(a, button)", ".thread-head :is(a, button, summary)", ".dock-head button"];
    const form = [".composer :is(button, select, summary)", ".inspector-head [role=tab]"];
    const small = `[...document.querySelectorAll(${JSON.stringify([...controls, ...form].join())})]
      .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width > 0)
      .filter((each) => each.getBoundingClientRect().height < 44).map((each) => each.outerHTML.slice(0, 200))`;
    for (const view of ["run", "threads"]) {
      await visit(`#/${view}/${id}`);
      await page.locator(".thread-head .views").waitFor();
      await expect
        .poll(async () => (await page.locator(".thread-head").boundingBox())?.height)
        .toBeLessThanOrEqual(96);
      await expect.poll(() => page.evaluate<string[]>(small), { message: view }).toEqual([]);
      const more = page.locator("details.more");
      await more.locator("summary").click();
      await more.getByRole("button", { name: "Copy", exact: true }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await expect.poll(() => more.getAttribute("open")).toBeNull();
      await more.locator("summary").press("Enter");
      await page.getByRole("link", { name: "Steps", exact: true }).focus();
      await expect.poll(() => more.getAttribute("open")).toBeNull();
    }
  });

  it("has one menu at all widths, which the keyboard opens, walks through and closes", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    for (const width of [1440, 390]) {
      const { page, visit } = await open(url, { width });
      await visit(`#/threads/${id}`);
      const menu = page.locator("details.more");
      const focused = () => page.evaluate<string>("document.activeElement.textContent");
      expect(await page.getByRole("button", { name: "Refresh (r)" }).count()).toBe(0);
      await menu.locator("summary").press("ArrowDown");
      await expect.poll(focused).toBe("Copy");
      expect(await violationsOf(page)).toEqual([]);
      await page.keyboard.press("End");
      await expect.poll(focused).toBe("Refresh (r)");
      await page.keyboard.press("ArrowDown");
      await expect.poll(focused).toBe("Copy");
      await page.keyboard.press("ArrowUp");
      await expect.poll(focused).toBe("Refresh (r)");
      await page.keyboard.press("Escape");
      await expect.poll(focused).toBe("⋯");
      await expect.poll(() => menu.getAttribute("open")).toBeNull();
      await menu.locator("summary").click();
      await menu.getByRole("button", { name: "Refresh (r)" }).waitFor();
      await page.mouse.click(width / 2, 700);
      await expect.poll(() => menu.getAttribute("open")).toBeNull();
      expect(new URL(page.url()).hash).toContain(id);
    }
  });

  it("does not show the outcome of a run on another thread", async () => {
    const { service, url } = server();
    const failed = await ranThread(service, "fail", {}).catch(() => undefined);
    const [error] = (await service.threads.search({ status: "error" })).items;
    const { page, visit } = await open(url);
    await visit("#/run?graph=agent");
    await page.getByRole("textbox", { name: "Message to the graph" }).fill("two and three");
    await page.keyboard.press("Enter");
    await page.getByText(/^done ·/).waitFor();
    await page.goto(`${url}/studio/#/threads/${failed ?? error?.thread_id}`);
    await page.locator(".thread-head").getByText("error").waitFor();
    await page.getByRole("button", { name: "Runs", exact: true }).click();
    await page.locator(".runs li").getByText("failed").waitFor();
    expect(await page.locator(".dock-head").getByText(/^done/).count()).toBe(0);
  });

  it("is not left by Escape, which closes a fork unless it has a draft", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", { n: 8 });
    const { page, visit } = await open(url);
    await visit(`#/threads/${id}`);
    const fork = page.getByRole("region", { name: "Fork" });
    await page.getByRole("listbox", { name: "Steps" }).waitFor();
    await page.keyboard.press("f");
    await fork.waitFor();
    await page.keyboard.press("Escape");
    await fork.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    expect(new URL(page.url()).hash).toContain(id);
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Edit n" }).click();
    const draft = page.getByLabel("Value to write to n");
    await fillJson(draft, "6");
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    expect(await jsonIn(draft)).toBe("6");
  });
});

describeWithChromium("a table", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("hides the columns that the reader chose, also after a reload", async () => {
    const { service, url } = server();
    await ranThread(service, "steps", { n: 2 });
    const { page, visit } = await open(url);
    await visit("#/threads");
    const header = page.getByRole("columnheader", { name: "Steps" });
    await header.waitFor();
    const cells = () => page.locator("tbody tr").first().locator("td:visible").count();
    const before = await cells();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("Steps").uncheck();
    await header.waitFor({ state: "detached" });
    await expect.poll(cells).toBe(before - 1);
    expect(await violationsOf(page)).toEqual([]);
    await page.reload();
    await page.getByText("Columns", { exact: true }).click();
    expect(await header.count()).toBe(0);
    await page.getByLabel("Steps").check();
    await header.waitFor();
    await expect.poll(cells).toBe(before);
  });
});

describeWithChromium("shortcuts without a modifier key", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("can be turned off, and stay off after a reload", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.getByText("No threads yet").waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByLabel("Shortcuts without Ctrl or ⌘").uncheck();
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.reload();
    await page.getByText("No threads yet").waitFor();
    for (const key of ["g", "g", "?"]) await page.keyboard.press(key);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Go to" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/threads");
    await page.keyboard.press("Escape");
    // Then letters find the entries of a tree by their beginning.
    await visit(`#/threads/${await ranThread(service, "steps", { n: 8 })}?tab=state`);
    const entries = page.getByRole("tree").getByRole("treeitem");
    await entries.first().waitFor();
    await page.getByRole("tree").press("n");
    await expect.poll(() => entries.and(page.locator("[aria-selected=true]")).textContent()).toMatch(/^n/);
    await page.getByRole("button", { name: "Shortcuts (?)" }).click();
    await page.getByRole("dialog").getByLabel("Shortcuts without Ctrl or ⌘").check();
    await page.keyboard.press("Escape");
    for (const key of ["g", "g"]) await page.keyboard.press(key);
    await page.getByRole("heading", { name: "Graphs" }).waitFor();
  });
});

describeWithChromium("the search of the command palette", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { agent, steps }, settings: { list_all_assistants: true } });

  it("finds graphs, and threads that the page has not loaded", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "agent", ask("a word like rhubarb"));
    for (let index = 0; index < 40; index += 1) await service.threads.create({});
    const { page, visit } = await open(url);
    await visit("#/store");
    await page.keyboard.press("Control+k");
    const options = page.getByRole("dialog").getByRole("option");
    await page.getByRole("dialog").getByRole("combobox").fill("rhubarb");
    await expect.poll(() => options.allTextContents()).toEqual([`a word like rhubarb agent ${id}thread`]);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/threads/${id}`);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("steps graph");
    await expect.poll(() => options.allTextContents()).toEqual(["stepsgraph"]);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe("#/graphs/steps");
  });
});
