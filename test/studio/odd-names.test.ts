/** State keys whose names are empty or long, narrow screens, and clocks that differ. */
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer } from "./open.js";

const LONG = "a_state_key_that_a_program_generated_from_the_schema_of_another_system";
const State = Annotation.Root({
  "": Annotation<string>,
  [LONG]: Annotation<string>,
});
const odd = new StateGraph(State)
  .addNode("write", () => ({ "": `nameless ${Math.random()}`, [LONG]: `long ${Math.random()}` }))
  .addEdge(START, "write")
  .compile();
const plain = new StateGraph(Annotation.Root({ n: Annotation<number> }))
  .addNode("one", () => ({ n: 1 }))
  .addNode("two", () => ({ n: 2 }))
  .addEdge(START, "one")
  .addEdge("one", "two")
  .compile();

const isTooWide = (page: Page) => page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");

describeWithChromium("odd names", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { odd, plain }, settings: { list_all_assistants: true } });

  it("of a state key: an empty one is quoted, in the steps, changes, state, fork and form", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "odd", {});
    const { page, visit, settled } = await open(url);
    await visit(`#/threads/${id}`);
    await settled();
    const newest = page.getByRole("listbox", { name: "Steps" }).getByRole("option").first();
    expect(await newest.textContent()).toContain('changed ""');
    expect(await page.locator(".part h3 code").allTextContents()).toContain('""');
    await visit(`#/threads/${id}?tab=state`);
    await page.getByRole("treeitem", { name: '"" "nameless' }).waitFor();
    await page.keyboard.press("f");
    await page.getByRole("button", { name: 'Edit ""', exact: true }).waitFor();
    await visit("#/run?graph=odd");
    await page.getByLabel('""', { exact: true }).waitFor();
  });

  it("of a state key: a long one is broken into lines on a narrow screen", async () => {
    const { service, url } = server();
    const [one, two] = [await ranThread(service, "odd", {}), await ranThread(service, "odd", {})];
    const { page, visit, settled } = await open(url, { width: 390, height: 844 });
    for (const place of [`#/compare/${one}@-1/${two}@-1`, `#/threads/${one}`, `#/threads/${one}?fork=1`]) {
      await visit(place);
      await page.locator("h3 code", { hasText: LONG }).first().waitFor();
      await settled();
      expect(await isTooWide(page), place).toBe(false);
    }
  });

  it("leave the numbers of a heat map on one line", async () => {
    const { service, url } = server();
    await ranThread(service, "odd", {});
    const { page, visit } = await open(url);
    await visit("#/graphs/odd?heat=p95");
    const numbers = page.locator(".heat-table tbody td");
    await numbers.first().waitFor();
    const breaks = await numbers.evaluateAll((cells) =>
      cells.map((cell) => (globalThis as unknown as Styles).getComputedStyle(cell).whiteSpace),
    );
    expect(new Set(breaks)).toEqual(new Set(["nowrap"]));
  });

  it("a fork that is opened from another thread starts at a step of its own thread", async () => {
    const { service, url } = server();
    const [one, two] = [await ranThread(service, "odd", {}), await ranThread(service, "plain", {})];
    const { page, visit } = await open(url);
    await visit(`#/threads/${one}`);
    await page.locator(".part h3 code").first().waitFor();
    const tip = (await service.state.get(two)).checkpoint?.checkpoint_id;
    await page.evaluate(`location.hash = "#/threads/${two}?fork=1"`);
    await expect.poll(() => page.url()).toContain(`/threads/${two}/at/${tip}`);
    await page.getByRole("button", { name: "Edit n" }).waitFor();
  });

  it("an age is not rounded up to the next unit, nor in the future if the clock of the browser is behind", async () => {
    const { service, url } = server();
    const id = await ranThread(service, "plain", {});
    const updated = Date.parse((await service.threads.get(id)).updated_at);
    const { page, visit } = await open(url);
    const HOUR = 3_600_000;
    for (const [clock, age] of [
      [updated - HOUR, "now"],
      [updated + HOUR - 10_000, "59 min. ago"],
      [updated + HOUR, "1 hr. ago"],
    ] as const) {
      await page.clock.setFixedTime(new Date(clock));
      await visit("#/threads");
      await page.reload();
      await page
        .locator("tbody tr", { has: page.locator(`[href*="${id}"]`) })
        .getByText(age, { exact: true })
        .waitFor();
    }
  });

  it("an error on the screen of a run, or an empty list of a phone, keeps a distance from the border", async () => {
    const { url } = server();
    const { page, visit } = await open(url, { width: 390, height: 844 });
    for (const [place, box] of [
      ["#/run/00000000-0000-7000-8000-000000000000", ".fault"],
      ["#/runs?graph=unknown", ".empty"],
    ] as const) {
      await visit(place);
      await page.locator(box).waitFor();
      expect((await page.locator(box).boundingBox())?.x, place).toBeGreaterThan(8);
    }
  });
});

interface Styles {
  getComputedStyle: (element: unknown) => { whiteSpace: string };
}
