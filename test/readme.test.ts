/** What README.md and the documents state and link to; `readme-steps.slow.test.ts` runs their commands. */
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { newId } from "../src/support/ids.js";
import { createProject, type Project } from "./cli/harness.js";
import { startTestServer } from "./helpers/app.js";
import { SAVER_VERSION } from "./helpers/sqlite-saver.js";
import { anchors, DOCUMENTS, markedBlocks, namedPaths, relativeLinks, ROOT } from "./helpers/markdown.js";

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

const textOf = (document: string) => readFile(join(ROOT, document), "utf8");

describe("README.md", () => {
  it("has at most 250 lines", async () => {
    expect((await textOf("README.md")).split("\n").length).toBeLessThanOrEqual(250);
  });

  it("shows commands that the linked walkthrough runs", async () => {
    const [story] = markedBlocks("README.md").filter(({ kind }) => kind === "story");
    const commands = (story?.text ?? "")
      .trim()
      .split("\n")
      .map((line) => line.split(/ +#/)[0] ?? "");
    const run = markedBlocks("docs/what-did-this-thread-do.md").filter(({ kind }) => kind === "run");
    const lines = run.flatMap(({ text }) => text.split("\n"));
    expect(commands).toHaveLength(6);
    for (const command of commands)
      expect(
        lines.some((line) => line === command || line.startsWith(`${command} |`)),
        command,
      ).toBe(true);
  });

  it("has a comparison table with ten rows", async () => {
    const [, table = ""] = /## Compared[^]*?\n(\|[^]*?)\n\n/.exec(await textOf("README.md")) ?? [];
    expect(table.split("\n").slice(2)).toHaveLength(10);
  });
});

describe("CONTRIBUTING.md", () => {
  it("names existing npm scripts", async () => {
    const { scripts } = JSON.parse(await textOf("package.json")) as { scripts: object };
    const text = await textOf("CONTRIBUTING.md");
    const named = Array.from(
      text.matchAll(/npm (?:run )?(test(?::all)?|bench|dev|check)\b/g),
      ([, name]) => name,
    );
    expect(new Set(named).size).toBe(5);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });

  it("names every source folder", async () => {
    const text = await textOf("CONTRIBUTING.md");
    const rooms = (await readdir(join(ROOT, "src"), { withFileTypes: true })).filter((entry) =>
      entry.isDirectory(),
    );
    for (const { name } of rooms) expect(text).toContain(`\`src/${name}\``);
  });
});

describe("docs/README.md", () => {
  it("links to every document in docs", () => {
    const led = relativeLinks("docs/README.md").map(({ path }) => `docs/${path}`);
    const others = DOCUMENTS.filter(
      (document) => document.startsWith("docs/") && document !== "docs/README.md",
    );
    expect([...led].sort()).toEqual(others);
  });
});

describe.each(DOCUMENTS)("%s", (document) => {
  it("links to existing files and headings", () => {
    const folder = dirname(document);
    for (const { path, heading } of relativeLinks(document)) {
      const target = path === "" ? document : join(folder, path);
      expect(existsSync(join(ROOT, target)), target).toBe(true);
      if (heading !== undefined) expect(anchors(target), target).toContain(heading);
    }
  });

  it("names existing files", () => {
    const missing = namedPaths(document).filter((path) => !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });
});

describe("docs/compatibility.md", () => {
  it("names the versions of the clients that the tests run with", async () => {
    const json = async (file: string) => JSON.parse(await textOf(file)) as Record<string, unknown>;
    const { devDependencies } = (await json("package.json")) as { devDependencies: Record<string, string> };
    const { packages } = (await json("package-lock.json")) as {
      packages: Record<string, { version: string }>;
    };
    const { dependencies } = (await json("test/newest/package.json")) as {
      dependencies: Record<string, string>;
    };
    const of = (name: string) => packages[`node_modules/${name}`]?.version ?? "none";
    const [react, svelte] = ["react", "svelte"].map((name) => `@langchain/${name}`) as [string, string];
    const sdk = "@langchain/langgraph-sdk";
    const [pinned, newest, line2] = [of(sdk), dependencies[sdk] ?? "none", of("langgraph-sdk-2")];
    const text = await textOf("docs/compatibility.md");
    for (const line of [
      `\`${react}\` ${of(react)} with its own SDK ${of(`${react}/node_modules/${sdk}`)}`,
      `\`client.threads.stream()\` of SDK ${pinned} and ${newest}`,
      `\`${sdk}\` ${pinned}, ${newest} and [${line2}]`,
      `\`${svelte}\` ${of(svelte)} with its own SDK ${of(`${svelte}/node_modules/${sdk}`)}`,
      `\`@langchain/langgraph-checkpoint-sqlite\` ${SAVER_VERSION}`,
      `\`@ag-ui/langgraph\` ${of("@ag-ui/langgraph")} with \`@ag-ui/client\` ${of("@ag-ui/client")}`,
    ])
      expect(text).toContain(line);
    expect(await textOf("README.md")).toContain(`${pinned}, ${newest} and ${line2} are tested`);
    const suite = devDependencies["@modelcontextprotocol/conformance"] ?? "none";
    expect(await textOf("docs/mcp.md")).toContain(`modelcontextprotocol/conformance) ${suite}`);
    expect(await textOf("docs/mcp.md")).toContain(`Client ${of("@modelcontextprotocol/client")} is tested`);
  });
});

describe("docs/storage.md", () => {
  it("better-sqlite3 is optional in a clone too: no dependency requires it", async () => {
    expect(await textOf("docs/storage.md")).toContain("`better-sqlite3` is an optional dependency");
    const { packages } = JSON.parse(await textOf("package-lock.json")) as {
      packages: Record<string, { optional?: boolean }>;
    };
    expect(packages["node_modules/better-sqlite3"]?.optional).toBe(true);
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
  it("documents the status codes of routes that are not served", async () => {
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
