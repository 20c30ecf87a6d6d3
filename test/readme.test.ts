/** README.md, followed step by step in a copy of the repository; and what the documents lead to. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { newId } from "../src/ids.js";
import { startCli } from "./cli/harness.js";
import { startTestServer } from "./helpers/app.js";
import {
  anchors,
  DOCUMENTS,
  markedBlocks,
  namedPaths,
  relativeLinks,
  ROOT,
  type Block,
} from "./helpers/markdown.js";
import { settled, Tour } from "./helpers/tour.js";

/** The documents that are followed, each in a clone of its own. */
const FOLLOWED = ["README.md", "docs/what-did-this-thread-do.md"];
const tours: Record<string, Tour> = {};

function tourOf(document: string): Tour {
  const tour = tours[document];
  if (!tour) throw new Error(`${document} is not followed`);
  return tour;
}

beforeAll(async () => {
  for (const document of FOLLOWED) tours[document] = await Tour.open();
});
afterAll(async () => {
  for (const tour of Object.values(tours)) await tour.close();
});

/** A JSON answer by its values, however it is laid out; other output to the letter. */
function comparable(text: string, language: string): unknown {
  return language === "json" ? JSON.parse(settled(text)) : settled(text).trimEnd();
}

describe.each(FOLLOWED)("%s, step by step", (document) => {
  const steps = markedBlocks(document).filter(({ kind }) => ["run", "serve", "file"].includes(kind));
  it.each(steps.map((step): [string, Block] => [`${step.kind} ${step.name}`, step]))(
    "%s",
    async (_, step) => {
      const printed = await tourOf(document).follow(step);
      if (!step.output) return;
      const { language, text } = step.output;
      expect(comparable(printed, language)).toEqual(comparable(text, language));
    },
  );
});

describe("README.md", () => {
  it("shows the banner of a terminal", async () => {
    const [banner] = markedBlocks("README.md").filter(({ kind }) => kind === "banner");
    const dev = startCli(["dev", "./templates/chat/graph.ts", "-p", "0"], {
      cwd: tourOf("README.md").folder,
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
    const named = Array.from(text.matchAll(/npm (?:run )?(test|bench)\b/g), ([, name]) => name);
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
      const { folder } = tourOf("README.md");
      const file = join(folder, `shown.${language}`);
      await writeFile(file, text);
      const { settings, origins } = await loadConfig({ cwd: folder, file, env: {} });
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
