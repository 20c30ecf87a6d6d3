/** What README.md and the documents say and lead to; `readme-steps.slow.test.ts` runs their commands. */
import { existsSync } from "node:fs";
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { newId } from "../src/support/ids.js";
import { createProject, startCli, type Project } from "./cli/harness.js";
import { startTestServer } from "./helpers/app.js";
import { anchors, DOCUMENTS, markedBlocks, namedPaths, relativeLinks, ROOT } from "./helpers/markdown.js";
import { settled } from "./helpers/tour.js";

let project: Project;
beforeAll(async () => {
  project = await createProject();
  await cp(join(ROOT, "templates/chat"), join(project.dir, "templates/chat"), { recursive: true });
});
afterAll(() => project.remove());

describe("README.md", () => {
  it("shows the banner of a terminal", async () => {
    const [banner] = markedBlocks("README.md").filter(({ kind }) => kind === "banner");
    const dev = startCli(["dev", "./templates/chat/graph.ts", "-p", "0"], {
      cwd: project.dir,
      isTTY: true,
    });
    const [address = ""] = await dev.stderr.until(/http:\/\/127\.0\.0\.1:\d+/);
    await dev.stderr.until(/quit\S*\n/);
    dev.stop();
    expect(await dev.exit).toBe(0);
    const plain = dev.stderr.text.replaceAll(/\u001b\[\d+m/g, "").replace(address, "http://127.0.0.1:2024");
    expect(settled(plain)).toContain(settled(banner?.text ?? "there is none"));
  });

  it("names scripts that there are", async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { scripts: object };
    const text = await readFile(join(ROOT, "README.md"), "utf8");
    const named = Array.from(text.matchAll(/npm (?:run )?(test(?::all)?|bench)\b/g), ([, name]) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

describe.each(DOCUMENTS)("%s", (document) => {
  it("leads to files and headings that exist", () => {
    const folder = document.includes("/") ? "docs/" : "";
    for (const { path, heading } of relativeLinks(document)) {
      const target = path === "" ? document : join(folder, path);
      expect(existsSync(join(ROOT, target)), target).toBe(true);
      if (heading !== undefined) expect(anchors(target), target).toContain(heading);
    }
  });

  it("names files that exist", () => {
    const missing = namedPaths(document).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });
});

describe("docs/settings.md", () => {
  const examples = markedBlocks("docs/settings.md").filter(({ kind }) => kind === "example");

  it.each(examples.map(({ language, text }) => [language, text]))(
    "shows a valid %s file",
    async (language, text) => {
      const file = await project.put(`shown.${language}`, text);
      const { settings, origins } = await loadConfig({ cwd: project.dir, file, env: {} });
      expect(origins.graphs).toMatchObject({ kind: "file" });
      expect(settings.graphs.agent).toBe("./src/agent.ts:graph");
    },
  );
});

describe("docs/http.md", () => {
  it("says what is answered where nothing is served", async () => {
    const server = await startTestServer({ graphs: { agent: join(ROOT, "templates/minimal/graph.ts") } });
    const text = await readFile(join(ROOT, "docs/http.md"), "utf8");
    const rows = [...text.matchAll(/^\| `([A-Z]+) ([^`]+)` +\| (404|405) +\|$/gm)];
    expect(rows.length).toBeGreaterThan(5);
    for (const [, method = "", path = "", status] of rows) {
      const body = method === "GET" ? undefined : {};
      const answer = await server.request(method, path.replace("{thread_id}", newId()), body);
      expect(`${method} ${path} ${answer.status}`).toBe(`${method} ${path} ${status}`);
    }
  });
});
