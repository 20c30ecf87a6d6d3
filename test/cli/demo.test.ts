import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cli, startCli } from "./harness.js";

const ANSWER = 'You said: "Hello from the demo"';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "graph-serve-demo-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const templateFiles = () => readdir(join(process.cwd(), "templates/chat"));

describe("demo --ci", () => {
  it("streams the answer to stdout, prints the Studio's address and exits with code 0", async () => {
    const before = await templateFiles();
    const { code, stdout, stderr } = await cli(["demo", "--ci"], { cwd: folder });
    expect(code, stderr).toBe(0);
    expect(stdout).toContain(ANSWER);
    expect(stderr).toMatch(/success in \d+ ms, \d+ tokens/);
    expect(stderr).toMatch(/Studio {2}http:\/\/127\.0\.0\.1:\d+\/studio\/#\/threads\/[0-9a-f-]{36}\n/);
    expect(await readdir(folder)).toEqual([]);
    expect(await templateFiles()).toEqual(before);
  });

  it("ignores the settings of the folder and of variables", async () => {
    const env = { GRAPH_SERVE_CHECKPOINTER_SCHEME: "postgres", GRAPH_SERVE_QUEUE: "postgres" };
    const args = ["demo", "--ci", "--config", join(folder, "missing.json")];
    const { code, stdout } = await cli(args, { cwd: folder, env });
    expect(code).toBe(0);
    expect(stdout).toContain(ANSWER);
  });

  it("prints one document with --json", async () => {
    const { code, stdout } = await cli(["demo", "--ci", "--json", "--quiet"], { cwd: folder });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status: "success", error: null, pid: process.pid });
  });

  it("exits with code 1 if the port is in use, and with code 2 for an invalid port", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as { port: number };
    const { code, stderr } = await cli(["demo", "--ci", "-p", String(port)], { cwd: folder });
    other.close();
    expect(code).toBe(1);
    expect(stderr).toContain(`port ${port} on 127.0.0.1 is in use`);
    expect((await cli(["demo", "--ci", "-p", "many"], { cwd: folder })).code).toBe(2);
  });
});

describe("demo", () => {
  it("serves until it is stopped by a signal", async () => {
    const demo = startCli(["demo", "-p", "0"], { cwd: folder });
    const [, url = ""] = await demo.stderr.until(/API +(http:\S+)\/docs\n/);
    await demo.stderr.until(/Ctrl-C stops the demo/);
    const threads = await fetch(`${url}/threads/search`, { method: "POST", body: "{}" });
    expect(await threads.json()).toHaveLength(1);
    expect((await fetch(`${url}/studio/`)).status).toBe(200);
    demo.stop("SIGINT");
    expect(await demo.exit).toBe(0);
    await expect(fetch(`${url}/ok`)).rejects.toThrow();
  });
});
