/** `npm run studio`: the Studio from its sources, for a running server. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { describeWithChromium, useChromium } from "../helpers/chromium.js";
import { ROOT } from "../helpers/markdown.js";
import { useServer } from "./open.js";

describeWithChromium("npm run studio", () => {
  const open = useChromium();
  const server = useServer({ graphs: { agent } });

  it("serves the Studio from its sources, which runs graphs of the given server", async () => {
    const { url } = server();
    const child = spawn(process.execPath, [join(ROOT, "scripts/studio-dev.mjs"), url], {
      env: { ...process.env, PORT: "0" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(async () => {
      child.kill();
      if (child.exitCode === null) await once(child, "exit");
    });
    const address = await new Promise<string>((resolve) => {
      let text = "";
      // Read to the end: a closed pipe would stop the server.
      child.stdout.on("data", (part) => {
        const found = /^studio (http:\S+\/studio\/), server/m.exec((text += String(part)))?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    const { page, faults } = await open();
    await page.goto(address);
    const message = page.getByRole("textbox", { name: "Message to the graph" });
    // The first start bundles the dependencies.
    await message.waitFor({ timeout: 90_000 });
    await message.fill("two and three");
    await page.keyboard.press("Enter");
    await page.getByText("The sum is 5").waitFor();
    expect(faults.filter((fault) => fault.startsWith("error"))).toEqual([]);
  });
});
