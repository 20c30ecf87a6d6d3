/** The command palette: keyboard access to every screen and action. */
import { expect, it } from "vitest";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { describeWithChromium } from "../helpers/chromium.js";
import { ranThread, useBrowser, useServer, violationsOf } from "./open.js";

describeWithChromium("the command palette", () => {
  const open = useBrowser();
  const server = useServer({ graphs: { steps } });

  it("opens screens, threads and actions of the current screen by keyboard alone", async () => {
    const { service, url } = server();
    const [first, second] = [await ranThread(service, "steps", {}), await ranThread(service, "steps", {})];
    const { page, visit } = await open(url);
    const options = page.getByRole("dialog").getByRole("option");
    const type = async (text: string) => {
      // The address changes before a used palette has closed; keys pressed in between would go to it.
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog").getByRole("combobox").waitFor();
      await page.keyboard.type(text);
    };
    await visit("#/threads");
    await type("graphs screen");
    await expect.poll(() => options.allTextContents()).toEqual(["Graphsscreen"]);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Graphs" }).waitFor();
    expect(new URL(page.url()).hash).toBe("#/graphs");

    await type(first);
    await expect.poll(() => options.count()).toBe(1);
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).hash).toBe(`#/threads/${first}`);
    await page.getByRole("tab", { name: "State" }).waitFor();

    await type("state here");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("tab=state");

    const searched = page.waitForEvent("requestfinished", (request) =>
      Boolean(request.postData()?.includes('"query":"graph"')),
    );
    await type("graph");
    // Its answer changes the options.
    await searched;
    await expect.poll(() => options.count()).toBeGreaterThan(1);
    const chosen = () => page.locator('#palette [aria-selected="true"]').getAttribute("id");
    expect(await chosen()).toBe("palette-0");
    await page.keyboard.press("ArrowUp");
    expect(await chosen()).toBe(`palette-${(await options.count()) - 1}`);
    await page.keyboard.press("ArrowDown");
    expect(await chosen()).toBe("palette-0");
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);

    await type("nothing is called so");
    await page.getByText("No matches.").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(page.url()).toContain(first);
    expect(page.url()).not.toContain(second);
  });

  it("opens an unlisted thread by its id", async () => {
    const { service, url } = server();
    const { page, visit } = await open(url, { width: 320, scheme: "dark" });
    await visit("#/threads?status=error");
    const id = await ranThread(service, "steps", {});
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type(id.toUpperCase());
    await expect.poll(() => page.getByRole("dialog").getByRole("option").count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain(`#/threads/${id}`);
  });
});
