/** Browsing the long-term memory, and deletion with undo. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import {
  expectCopied,
  fillJson,
  held,
  jsonIn,
  ranThread,
  useBrowser,
  useServer,
  violationsOf,
} from "./open.js";

const rows = (page: Page) => page.locator("[data-list] li");
const tree = (page: Page) => page.getByRole("navigation", { name: "Namespaces" }).getByRole("link");
/** A fake clock, so that tests skip the seconds in which a deletion can be undone. */
const CLOCK = Date.parse("2030-01-01T00:00:00.000Z");

describeWithChromium("the memory page", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("is browsed, filtered, edited and extended by keyboard alone", async () => {
    const { service, url } = server();
    const { store } = service;
    const ada = ["users", "ada"];
    await store.put({ namespace: ada, key: "prefs", value: { tone: "dry" }, ttl: 90 });
    await store.put({ namespace: [...ada, "trips"], key: "rome", value: { year: 2024 } });
    await store.put({ namespace: ["users", "bo"], key: "prefs", value: { tone: "warm" } });
    await store.put({ namespace: ["rules"], key: "first", value: { text: "be kind" } });
    const { page, visit } = await open(url);
    await visit("#/threads");
    await page.keyboard.press("g");
    await page.keyboard.press("m");
    await expect.poll(() => tree(page).allTextContents()).toEqual(["everything", "rules", "users"]);
    await expect.poll(() => rows(page).count()).toBe(4);
    await page.getByLabel("Value").fill("tone=dry");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => rows(page).allTextContents())
      .toEqual([expect.stringContaining("expires after 90 minutes")]);

    await tree(page).filter({ hasText: "users" }).press("Enter");
    await expect
      .poll(() => tree(page).allTextContents())
      .toEqual(["everything", "rules", "users", "ada", "bo"]);
    await tree(page).filter({ hasText: "ada" }).press("Enter");
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await rows(page).last().textContent()).toMatch(/rome.*2024.*trips/);
    await page.getByLabel("Filter loaded items").fill("ROME");
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.getByLabel("Filter loaded items").fill("");
    await page.keyboard.press("Escape");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");

    const json = page.getByLabel("Value as JSON");
    await expect.poll(() => jsonIn(json)).toBe(JSON.stringify({ tone: "dry" }, null, 2));
    expect(await page.getByLabel(/Minutes to live/).inputValue()).toBe("90");
    await fillJson(json, '{\n  "tone": dry }');
    await page.getByText("Invalid JSON: line 2, column 11").waitFor();
    await fillJson(json, "[1]");
    await page.getByText("The value must be an object").waitFor();
    await fillJson(json, '{ "tone": "calm" }');
    const others = page.getByRole("group", { name: "Copy as" });
    await expectCopied(others, "curl", /PUT .*\/store\/items .*"tone":"calm"},"ttl":90/);
    await expectCopied(others, "SDK call", /client\.store\.putItem\(\[.*"users",.*"prefs",.*"ttl": 90/s);
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await expect.poll(() => rows(page).first().textContent()).toContain("calm");
    expect(await store.get(ada, "prefs")).toMatchObject({ value: { tone: "calm" }, ttl_minutes: 90 });

    await page.getByRole("button", { name: "New item" }).press("Enter");
    expect(await page.getByLabel(/Namespace, labels/).inputValue()).toBe("users.ada");
    await page.getByLabel("Key", { exact: true }).fill("pets");
    await fillJson(json, '{ "cat": "Tom" }');
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await expect.poll(() => rows(page).count()).toBe(3);
    expect(await store.get(ada, "pets")).toMatchObject({ value: { cat: "Tom" }, ttl_minutes: null });
  });

  it("shows errors of the server and missing items", async () => {
    const { url } = server();
    const { page, visit } = await open(url);
    await visit("#/store?edit=new");
    await page.getByLabel(/Namespace, labels/).fill("a..b");
    await page.getByLabel("Key", { exact: true }).fill("k");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").filter({ hasText: "labels must be non-empty strings" }).waitFor();
    await visit("#/store/nobody?key=nothing");
    await page.getByText("This item no longer exists").waitFor();
  });

  it("does not replace an item by a new one with the same key", async () => {
    const { service, url } = server();
    await service.store.put({ namespace: ["kept"], key: "first", value: { text: "be kind" } });
    const { page, visit } = await open(url);
    await visit("#/store/kept?edit=new");
    await page.getByLabel("Key", { exact: true }).fill("first");
    await page.getByRole("button", { name: "Save" }).press("Enter");
    await page.getByRole("alert").filter({ hasText: "already has an item first" }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    expect(await service.store.get(["kept"], "first")).toMatchObject({ value: { text: "be kind" } });
    await page.getByRole("link", { name: "Open it to replace its value" }).press("Enter");
    await page.getByRole("heading", { level: 2, name: "first" }).waitFor();
  });

  it("stays on the screen that was opened while an item was being saved", async () => {
    const { service, url } = server();
    const { page, visit, settled } = await open(url);
    await visit("#/store/saved?edit=new");
    await page.getByLabel("Key", { exact: true }).fill("late");
    const saving = await held(page, "**/store/items");
    await page.getByRole("button", { name: "Save" }).click();
    await saving.asked;
    await visit("#/graphs");
    saving.release();
    await saving.answered;
    await expect.poll(() => service.store.get(["saved"], "late")).not.toBeNull();
    await settled();
    await page.getByRole("heading", { level: 1, name: "Graphs" }).waitFor();
    expect(page.url()).toContain("#/graphs");
  });

  it("says if a level has more namespaces than it shows", async () => {
    const { service, url } = server();
    const put = (at: number) =>
      service.store.put({ namespace: ["many", String(at).padStart(4, "0")], key: "k", value: {} });
    await Promise.all(Array.from({ length: 501 }, (_, at) => put(at)));
    const { page, visit } = await open(url);
    await visit("#/store/many");
    await page.getByText("Only the first 500 are shown.").waitFor();
    const shown = tree(page).filter({ hasText: /^0\d{3}$/ });
    await expect.poll(() => shown.count()).toBe(500);
  });

  it("deletes an item at once if the page is closed", async () => {
    const { service, url } = server();
    await service.store.put({ namespace: ["closed"], key: "old", value: {} });
    const { page, visit } = await open(url);
    await visit("#/store/closed?key=old");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.reload();
    await expect.poll(() => service.store.get(["closed"], "old")).toBeNull();
  });

  it("offers to undo a deletion only until it is sent, and sends it once", async () => {
    const { service, url } = server();
    for (const key of ["a", "b"]) await service.store.put({ namespace: ["twice"], key, value: {} });
    const { page, visit } = await open(url);
    await page.clock.install({ time: CLOCK });
    const sent: string[] = [];
    page.on("request", (request) => request.method() === "DELETE" && sent.push(request.postData() ?? ""));
    await visit("#/store/twice?key=a");
    await page.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    const first = await held(page, "**/store/items");
    await page.clock.runFor(6000);
    await first.asked;
    await expect.poll(() => page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    await visit("#/store/twice?key=b");
    await page.getByRole("button", { name: "Delete" }).press("Enter");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.clock.runFor(6000);
    await expect.poll(() => service.store.get(["twice"], "b")).toBeNull();
    first.release();
    await expect.poll(() => service.store.get(["twice"], "a")).toBeNull();
    expect(sent).toHaveLength(2);
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("deletes an item after the undo period", async () => {
    const { service, url } = server();
    await service.store.put({ namespace: ["bin"], key: "old", value: {} });
    const { page, visit } = await open(url);
    await page.clock.install({ time: CLOCK });
    const remove = async () => {
      await visit("#/store/bin?key=old");
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("status", { name: "Deleted" }).getByText("old deleted").waitFor();
      await expect.poll(() => rows(page).count()).toBe(0);
      const others = page.getByRole("group", { name: "Copy as" });
      await expectCopied(others, "curl", /DELETE .*\/store\/items .*"namespace":\["bin"\],"key":"old"/);
    };
    await remove();
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => rows(page).count()).toBe(1);
    await page.clock.runFor(10_000);
    expect(await service.store.get(["bin"], "old")).not.toBeNull();
    await remove();
    await page.mouse.move(1, 1);
    await page.clock.runFor(10_000);
    await expect.poll(() => service.store.get(["bin"], "old")).toBeNull();
    await expect.poll(() => page.getByText("old deleted").count()).toBe(0);
  });

  it.each([{ scheme: "light" }, { scheme: "dark" }, { scheme: "dark", width: 320 }] as const)(
    "has no WCAG 2.2 AA violations and shows hostile values as text: %j",
    async (look) => {
      const { service, url } = server();
      const hostile = '<img src=x onerror="alert(1)">\u202e';
      await service.store.put({
        namespace: [hostile, "x/y?z#"],
        key: hostile,
        value: { [hostile]: hostile },
        ttl: 5,
      });
      const { page, visit } = await open(url, look);
      await visit(`#/store/${encodeURIComponent(hostile)}`);
      await rows(page).first().waitFor();
      expect(await violationsOf(page)).toEqual([]);
      await rows(page).getByRole("link").click();
      await page.getByRole("heading", { level: 2 }).filter({ hasText: "<img" }).waitFor();
      await expect.poll(() => tree(page).count()).toBeGreaterThan(2);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("button", { name: "Undo" }).waitFor();
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.locator("img").count()).toBe(0);
    },
  );
});

describeWithChromium("the list of threads", () => {
  const rows = (page: Page) => page.locator("[data-list] tbody tr");
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("finds threads that are not loaded, and deletes a thread after the undo period", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "steps", {}, { topic: "rhubarb" });
    await Promise.all(Array.from({ length: 60 }, () => service.threads.create({})));
    const { page, visit } = await open(url);
    await page.clock.install({ time: CLOCK });
    await visit("#/threads");
    await expect.poll(() => rows(page).count()).toBe(50);
    await page.getByLabel("Search", { exact: true }).fill("RHUBARB");
    await page.clock.runFor(1000);
    await expect.poll(() => rows(page).count()).toBe(1);
    expect(page.url()).toContain("q=RHUBARB");
    await rows(page)
      .getByRole("button", { name: /^Delete/ })
      .press("Enter");
    await expect.poll(() => rows(page).count()).toBe(0);
    const others = page.getByRole("group", { name: "Copy as" });
    await expectCopied(others, "SDK call", new RegExp(`client.threads.delete\\("${id}"\\)`));
    await expectCopied(others, "graph-serve", new RegExp(`threads delete ${id} --url`));
    await page.mouse.move(1, 1);
    await page.getByRole("button", { name: "Undo" }).press("Enter");
    await expect.poll(() => rows(page).count()).toBe(1);
    await rows(page)
      .getByRole("button", { name: /^Delete/ })
      .press("Enter");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await page.clock.runFor(10_000);
    await expect.poll(() => service.threads.count({ ids: [id] })).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Undo" }).count()).toBe(0);
    expect(await violationsOf(page)).toEqual([]);
  });
});
