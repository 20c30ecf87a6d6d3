/**
 * Creates docs/studio.png: `npm run build && node --import tsx scripts/studio-picture.mjs` serves a template,
 * runs it and opens the thread in Chromium. CHROMIUM overrides /usr/bin/chromium.
 */
import { join } from "node:path";
import { chromium } from "playwright-core";
import { startServer } from "../src/http/server.js";
import { openService } from "../src/service/open.js";

const ROOT = join(import.meta.dirname, "..");
const SIZE = { width: 1440, height: 640 };

const service = await openService({ graphs: { agent: join(ROOT, "templates/agent-tools/graph.ts") } });
const server = await startServer(service, { host: "127.0.0.1", port: 0, studio: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  let id = "";
  for (const content of ["What is 3 + 4?", "How many hours are in 12 days?", "What is 12 * 7?"]) {
    ({ thread_id: id } = await service.threads.create({}));
    const input = { messages: [{ role: "user", content }] };
    await service.runs.create(id, { assistant_id: "agent", input });
  }
  const page = await browser.newPage({ viewport: SIZE, colorScheme: "light" });
  await page.goto(`${server.url}/studio/#/run/${id}`);
  await page.locator(".node-line").first().waitFor();
  await page.locator(".recent li").nth(2).waitFor();
  await page.screenshot({ path: join(ROOT, "docs/studio.png") });
} finally {
  await browser.close();
  await server.close(0);
  await service.close(0);
}
