import fs from "node:fs";
import { access, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { describeSqlite, itSqlite } from "../helpers/with-sqlite.js";
import {
  cli,
  createProject,
  echoGraph,
  startCli,
  type CliOptions,
  type Project,
  type RunningCli,
} from "./harness.js";
import { withPostgres } from "../helpers/postgres.js";

let project: Project;
const running: RunningCli[] = [];
beforeEach(async () => {
  project = await createProject({ "graph.ts": echoGraph() });
});
afterEach(async () => {
  for (const cli of running.splice(0)) {
    cli.stop();
    await cli.exit;
  }
  await project.remove();
});

interface Dev extends RunningCli {
  url: string;
}

async function startDev(argv: string[] = ["./graph.ts", "-p", "0"], options: CliOptions = {}): Promise<Dev> {
  const cli = startCli(["dev", ...argv], { cwd: project.dir, ...options });
  running.push(cli);
  const ready = cli.stderr.until(/at (http:\S+)|API +(http:\S+)/);
  const failed = cli.exit.then((code) => {
    throw new Error(`dev exited with code ${code}: ${cli.stderr.text}`);
  });
  const match = await Promise.race([ready, failed]);
  return Object.assign(cli, { url: (match[1] ?? match[2]) as string });
}

interface Answer {
  thread_id: string;
  status: string;
}

async function post<T>(url: string, path: string, body: unknown): Promise<T> {
  const response = await fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

async function say(url: string, text: string): Promise<unknown> {
  const { thread_id } = await post<Answer>(url, "/threads", {});
  const input = { messages: [{ role: "user", content: text }] };
  await post(url, `/threads/${thread_id}/runs`, { assistant_id: "agent", input });
  const state = (await (await fetch(`${url}/threads/${thread_id}/state`)).json()) as {
    values: { messages: { content: unknown }[] };
  };
  return state.values.messages.at(-1)?.content;
}

const occupy = async (): Promise<{ server: Server; port: number }> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
};

describe("dev", () => {
  it("dev serves the Studio and prints its URL unless --no-studio is set", async () => {
    const dev = await startDev();
    expect(dev.stderr.text).toContain(`studio ${dev.url}/studio`);
    expect((await fetch(`${dev.url}/studio/`)).status).toBe(200);
    const plain = await startDev(["./graph.ts", "-p", "0", "--no-studio"]);
    expect(plain.stderr.text).not.toContain("/studio");
    expect((await fetch(`${plain.url}/studio/`)).status).toBe(404);
  });

  it("dev serves a graph file and shuts down gracefully", async () => {
    const dev = await startDev();
    expect(await say(dev.url, "hi")).toBe("echo: hi");
    const marker = JSON.parse(await readFile(join(project.dir, ".graph-serve/dev.json"), "utf8")) as object;
    expect(marker).toEqual({ url: dev.url, pid: process.pid });
    expect(await readFile(join(project.dir, ".graph-serve/.gitignore"), "utf8")).toBe("*\n");
    dev.stop();
    expect(await dev.exit).toBe(0);
    await expect(access(join(project.dir, ".graph-serve/dev.json"))).rejects.toThrow("ENOENT");
    await expect(fetch(`${dev.url}/ok`)).rejects.toThrow();
    expect(dev.stdout.text).toBe("");
  });

  itSqlite("the banner on a terminal has 12 lines", async () => {
    const dev = await startDev(undefined, { isTTY: true, env: { NO_COLOR: "1" } });
    await dev.stderr.until(/quit\n/);
    const lines = dev.stderr.text.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(dev.stderr.text).toMatch(/graph-serve \d+\.\d+\.\d+ {3}ready in \d+ ms/);
    expect(dev.stderr.text).toMatch(/Graph {4}agent {2}\.\/graph\.ts:graph {3}1 node, input \{messages\}/);
    expect(dev.stderr.text).toMatch(/Storage {2}sqlite \.graph-serve\/dev\.db/);
    dev.stdin.push("q");
    expect(await dev.exit).toBe(0);
  });

  it("requests are shown only with --verbose", async () => {
    const quiet = await startDev();
    await fetch(`${quiet.url}/ok`);
    quiet.stop();
    await quiet.exit;
    expect(quiet.stderr.text).not.toContain("/ok");
    const dev = await startDev(["./graph.ts", "-p", "0", "-v"]);
    const before = dev.stderr.text.length;
    await fetch(`${dev.url}/ok?secret=1`);
    await dev.stderr.until(/GET {4}\/ok {2}200 {2}\d+ ms\n/, before);
    expect(dev.stderr.text).not.toContain("secret");
  });

  it("--json prints one document when the server is ready", async () => {
    const dev = await startDev(["./graph.ts", "-p", "0", "--json"]);
    await dev.stdout.until(/\}\n$/);
    expect(JSON.parse(dev.stdout.text)).toMatchObject({
      url: dev.url,
      graphs: [{ id: "agent", nodes: ["reply"] }],
    });
  });

  itSqlite("threads survive a restart", async () => {
    const first = await startDev();
    const { thread_id } = await post<Answer>(first.url, "/threads", { metadata: { kept: true } });
    first.stop();
    await first.exit;
    const second = await startDev();
    const thread = await (await fetch(`${second.url}/threads/${thread_id}`)).json();
    expect(thread).toMatchObject({ metadata: { kept: true } });
  });

  it("scheme memory creates no database", async () => {
    const dev = await startDev(["./graph.ts", "-p", "0", "--checkpointer-scheme", "memory"]);
    expect(await say(dev.url, "hi")).toBe("echo: hi");
    await expect(access(join(project.dir, ".graph-serve/dev.db"))).rejects.toThrow("ENOENT");
  });

  it("a requested port that is taken is an error", async () => {
    const { server, port } = await occupy();
    try {
      const dev = startCli(["dev", "./graph.ts", "-p", String(port)], { cwd: project.dir });
      expect(await dev.exit).toBe(2);
      expect(dev.stderr.text).toContain(`error  port ${port} on 127.0.0.1 is in use`);
      expect(dev.stderr.text).toContain(`-p ${port + 1}`);
    } finally {
      server.close();
    }
  });

  itSqlite.each([false, true])(
    "dev warns if the default port is taken (on a terminal: %s)",
    async (isTTY) => {
      const holder = createServer();
      // Another program on this machine may already use it.
      await new Promise<void>((resolve) =>
        holder.once("error", () => resolve()).listen(2024, "127.0.0.1", resolve),
      );
      try {
        const dev = await startDev(["./graph.ts"], { isTTY, env: { NO_COLOR: "1" } });
        await dev.stderr.until(/storage sqlite|quit\n/);
        const port = new URL(dev.url).port;
        expect(port).not.toBe("2024");
        expect(dev.stderr.text).toMatch(
          new RegExp(
            `port 2024 on 127.0.0.1 is in use( by .+ \\(pid \\d+\\))?, using port ${port} instead\n`,
          ),
        );
      } finally {
        holder.close();
      }
    },
  );

  it("a port changed in the configuration is used, or reported as taken", async () => {
    const config = (port: number) => ({ graphs: { agent: "./graph.ts" }, port });
    const [first, second] = [await occupy(), await occupy()];
    await new Promise((resolve) => first.server.close(resolve));
    await project.put("graph-server.config.json", config(first.port));
    const dev = await startDev([]);
    await project.put("graph-server.config.json", config(second.port));
    await dev.stderr.until(
      new RegExp(`port ${second.port} on 127.0.0.1 is in use[\\s\\S]* still served at ${dev.url}\n`),
    );
    expect((await fetch(`${dev.url}/ok`)).status).toBe(200);
    await new Promise((resolve) => second.server.close(resolve));
    await project.put("graph-server.config.json", { ...config(second.port), welcome_message: "moved" });
    const url = `http://127.0.0.1:${second.port}`;
    await dev.stderr.until(new RegExp(`the server moved from ${dev.url} to ${url}\n`));
    expect((await fetch(`${url}/ok`)).status).toBe(200);
  });

  it("a public address causes a warning", async () => {
    const dev = await startDev(["./graph.ts", "-p", "0", "--host", "0.0.0.0"]);
    expect(dev.stderr.text).toContain("warn  the server is reachable from other machines on 0.0.0.0");
  });

  it("dev without a graph exits with code 2 and a next step", async () => {
    await rm(join(project.dir, "graph.ts"));
    await project.put("graph-server.config.json", {});
    const dev = startCli(["dev"], { cwd: project.dir });
    expect(await dev.exit).toBe(2);
    expect(dev.stderr.text).toContain("no graphs to serve");
    expect(dev.stderr.text).toContain("graph-serve init");
  });
});

withPostgres("dev with PostgreSQL", (postgres) => {
  it("the banner shows the URI of the storage without the password", async () => {
    const settings = { graphs: { agent: "./graph.ts" }, ...postgres.options() };
    await project.put("graph-server.config.json", settings);
    const dev = await startDev(["-p", "0"]);
    await dev.stderr.until(/storage postgres postgres(ql)?:\/\/(?!.*:[^*@/]+@)\S+/);
  });
});

describeSqlite("dev with a graph that does not exist", () => {
  it.each([
    ["./graph.ts:nope", 'error  export "nope" not found in ./graph.ts\n', "fix  write ./graph.ts:graph"],
    ["./grahp.ts", "error  graph file ./grahp.ts not found\n", "fix  did you mean"],
    ["./notes.md", "error  ./notes.md is not a JavaScript or TypeScript file\n", "fix  name a .ts"],
    ["./number.ts:graph", "error  ./number.ts:graph is a number, not a graph\n", "fix  export a compiled"],
    ["./number.ts", "error  ./number.ts exports no graph under the name", "fix  export the compiled"],
  ])("%s prints only the error and exits with code 2", async (target, error, fix) => {
    await project.put("notes.md", "# Notes");
    await project.put("number.ts", "export const graph = 5;");
    const { code, stdout, stderr } = await cli(["dev", target, "-p", "0"], { cwd: project.dir });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(fix);
    expect(stderr.startsWith(error) ? "" : stderr).toBe("");
    await expect(access(join(project.dir, ".graph-serve/dev.db"))).rejects.toThrow("ENOENT");
  });

  itSqlite("one of several graphs, or one of the configuration, is enough", async () => {
    expect((await cli(["dev", "./graph.ts", "./gone.ts"], { cwd: project.dir })).code).toBe(2);
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts", other: "./graph.ts:no" },
    });
    const { code, stderr } = await cli(["dev"], { cwd: project.dir });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error {2}export "no" not found/)]);
  });
});

/** Source that writes `text` to `file` the first time it is evaluated. */
const writes = (file: string, text: string): string => `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const other = new URL("./${file}", import.meta.url);
if (!existsSync(other) || readFileSync(other, "utf8") !== ${JSON.stringify(text)}) writeFileSync(other, ${JSON.stringify(text)});
`;

describe("hot reload in dev", () => {
  it("a saved graph is served immediately", async () => {
    const dev = await startDev();
    expect(await say(dev.url, "hi")).toBe("echo: hi");
    await project.put("graph.ts", echoGraph("again"));
    await dev.stderr.until(/reloaded graph\.ts in \d+ ms/);
    expect(await say(dev.url, "hi")).toBe("again: hi");
  });

  it("a graph with a syntax error keeps the last working graph", async () => {
    const dev = await startDev();
    await project.put("graph.ts", "export const graph = ;\n");
    await dev.stderr.until(/error {2}[\s\S]*last working graphs are still served/);
    expect(dev.stderr.text).toContain("graph.ts:1");
    expect(await say(dev.url, "hi")).toBe("echo: hi");
    await project.put("graph.ts", echoGraph("mended"));
    await dev.stderr.until(/reloaded graph\.ts/);
    expect(await say(dev.url, "hi")).toBe("mended: hi");
  });

  it("a factory that now throws keeps the last working graph", async () => {
    const dev = await startDev();
    await project.put("graph.ts", 'export function graph() {\n  throw new Error("no key");\n}\n');
    await dev.stderr.until(
      /the factory \.\/graph\.ts:graph throws[\s\S]*last working graphs are still served/,
    );
    expect(await say(dev.url, "hi")).toBe("echo: hi");
  });

  it("a graph that does not load is reported, answers 409, and loads once it is fixed", async () => {
    await project.put("other.ts", echoGraph("other"));
    await project.put("graph.ts", "export const graph = missing;\n");
    const dev = await startDev(["./graph.ts", "./other.ts", "-p", "0"]);
    await dev.stderr.until(
      /graph agent does not load\n[\s\S]*error {2}.*graph\.ts throws[\s\S]*saving a file reloads it/,
    );
    expect(dev.stderr.text).toContain("> 1 | export const graph = missing;");
    expect((await fetch(`${dev.url}/ok`)).status).toBe(200);
    const { thread_id } = await post<Answer>(dev.url, "/threads", {});
    const run = (assistant_id: string) =>
      fetch(`${dev.url}/threads/${thread_id}/runs`, {
        method: "POST",
        body: JSON.stringify({ assistant_id, input: { messages: [{ role: "user", content: "hi" }] } }),
      });
    expect((await run("agent")).status).toBe(409);
    expect((await run("other")).status).toBe(200);

    await project.put("other.ts", echoGraph("changed"));
    await dev.stderr.until(/reloaded other\.ts in \d+ ms; graph "agent" still does not load\n/);
    const before = dev.stderr.text.length;
    await project.put("graph.ts", echoGraph("mended"));
    await dev.stderr.until(/reloaded graph\.ts in \d+ ms\n/, before);
    expect(await say(dev.url, "hi")).toBe("mended: hi");
  });

  it("a graph file that is deleted and written again is reloaded", async () => {
    const dev = await startDev();
    await rm(join(project.dir, "graph.ts"));
    await dev.stderr.until(/graph file \.\/graph\.ts not found[\s\S]*last working graphs are still served/);
    await project.put("graph.ts", echoGraph("written"));
    await dev.stderr.until(/reloaded graph\.ts/);
    expect(await say(dev.url, "hi")).toBe("written: hi");
  });

  it("a missing import of a graph is loaded once it exists", async () => {
    await project.put("graph.ts", `import { word } from "./words.js";\n${echoGraph()}\nexport { word };\n`);
    const dev = await startDev();
    await dev.stderr.until(
      /file \.\/words\.js not found, imported by \.\/graph\.ts:1[\s\S]*saving a file reloads it/,
    );
    await project.put("words.ts", 'export const word = "said";\n');
    await dev.stderr.until(/reloaded words\.ts/);
    expect((await fetch(`${dev.url}/assistants/agent/schemas`)).status).toBe(200);
  });

  it("a file that is saved while the graphs are loaded is reloaded", async () => {
    const words = 'export const word = "two";\n';
    await project.put("words.ts", 'export const word = "one, longer";\n');
    await project.put("agent.ts", `import { word } from "./words.js";\n${echoGraph()}\nexport { word };\n`);
    await project.put("writer.ts", `${writes("words.ts", words)}${echoGraph()}`);
    const dev = await startDev(["./agent.ts", "./writer.ts", "-p", "0"]);
    await dev.stderr.until(/reloaded words\.ts in \d+ ms\n/);
  });

  it("a configuration that is saved during the first start is reloaded", async () => {
    const config = (message: string) => ({ graphs: { agent: "./agent.ts" }, welcome_message: message });
    await project.put("graph-server.config.json", config("one"));
    const saves = writes("graph-server.config.json", JSON.stringify(config("two")));
    await project.put("agent.ts", `${saves}${echoGraph()}`);
    const dev = await startDev(["-p", "0"]);
    await dev.stderr.until(/reloaded graph-server\.config\.json/);
    const message = await (await fetch(`${dev.url}/api/initial-message`)).json();
    expect(message).toMatchObject({ message: "two" });
  });

  it("a missing import that is written while the graphs are loaded is reloaded", async () => {
    const words = 'export const word = "said";\n';
    await project.put("agent.ts", `import { word } from "./words.js";\n${echoGraph()}\nexport { word };\n`);
    await project.put("writer.ts", `${writes("words.ts", words)}${echoGraph()}`);
    const dev = await startDev(["./agent.ts", "./writer.ts", "-p", "0"]);
    await dev.stderr.until(/reloaded words\.ts in \d+ ms\n/);
    expect((await fetch(`${dev.url}/assistants/agent/schemas`)).status).toBe(200);
  });

  it("a missing import in a folder that does not exist is loaded once it exists", async () => {
    await project.put(
      "graph.ts",
      `import { word } from "./lib/words.js";\n${echoGraph()}\nexport { word };\n`,
    );
    const dev = await startDev();
    await dev.stderr.until(/file \.\/lib\/words\.js not found/);
    await project.put("lib/words.ts", 'export const word = "said";\n');
    await dev.stderr.until(/reloaded words\.ts/);
    expect((await fetch(`${dev.url}/assistants/agent/schemas`)).status).toBe(200);
  });

  it("settings with a graph that does not load keep the last working settings", async () => {
    const config = (graph: string) => ({ graphs: { agent: graph }, welcome_message: graph });
    await project.put("graph-server.config.json", config("./graph.ts"));
    const dev = await startDev(["-p", "0"]);
    await project.put("graph-server.config.json", config("./gone.ts"));
    await dev.stderr.until(/graph file \.\/gone\.ts not found[\s\S]*last working/);
    const message = await (await fetch(`${dev.url}/api/initial-message`)).json();
    expect(message).toMatchObject({ message: "./graph.ts" });
  });

  itSqlite("a changed configuration is applied at the same address", async () => {
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts" },
      welcome_message: "one",
    });
    const dev = await startDev(["-p", "0"]);
    const { thread_id } = await post<Answer>(dev.url, "/threads", {});
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts" },
      welcome_message: "two",
    });
    await dev.stderr.until(/reloaded graph-server\.config\.json/);
    const message = await (await fetch(`${dev.url}/api/initial-message`)).json();
    expect(message).toMatchObject({ message: "two" });
    expect((await fetch(`${dev.url}/threads/${thread_id}`)).status).toBe(200);
  });

  it("an invalid configuration keeps the last working settings", async () => {
    await project.put("graph-server.config.json", {
      graphs: { agent: "./graph.ts" },
      welcome_message: "one",
    });
    const dev = await startDev(["-p", "0"]);
    await project.put("graph-server.config.json", { prot: 1 });
    await dev.stderr.until(/unknown setting "prot"[\s\S]*last working/);
    const message = await (await fetch(`${dev.url}/api/initial-message`)).json();
    expect(message).toMatchObject({ message: "one" });
  });

  it("a changed env file reaches the graph", async () => {
    await project.put(".env", "GREETING_WORD=hello\n");
    await project.put("graph-server.config.json", { graphs: { agent: "./graph.ts" } });
    await project.put(
      "graph.ts",
      echoGraph("${process.env.GREETING_WORD}").replaceAll('"${', "`${").replace('}: "', "}: `"),
    );
    const dev = await startDev(["-p", "0"]);
    expect(dev.stderr.text).toContain("loaded variables from .env\n");
    expect(await say(dev.url, "hi")).toBe("hello: hi");
    await project.put(".env", "GREETING_WORD=ciao\n");
    await dev.stderr.until(/reloaded \.env/);
    expect(await say(dev.url, "hi")).toBe("ciao: hi");
  });

  it("a system that cannot watch files causes a warning", async () => {
    const limit = Object.assign(new Error("ENOSPC: System limit for number of file watchers reached"), {
      code: "ENOSPC",
    });
    const watch = vi.spyOn(fs, "watch").mockImplementation(() => {
      throw limit;
    });
    syncBuiltinESMExports();
    try {
      const dev = await startDev();
      await dev.stderr.until(/warn .*files cannot be watched.*System limit for number of file watchers/);
      expect(await say(dev.url, "hi")).toBe("echo: hi");
    } finally {
      watch.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it("--no-reload disables the watcher, and the r key reloads", async () => {
    const dev = await startDev(["./graph.ts", "-p", "0", "--no-reload"], {
      isTTY: true,
      env: { NO_COLOR: "1" },
    });
    await project.put("graph.ts", echoGraph("by key"));
    expect(await say(dev.url, "hi")).toBe("echo: hi");
    dev.stdin.push("r");
    await dev.stderr.until(/reloaded graph\.ts/);
    expect(await say(dev.url, "hi")).toBe("by key: hi");
  });
});
