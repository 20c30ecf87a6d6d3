import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import type { RunningServer } from "../../src/http/listen.js";
import { cli, startCli, type CliOptions } from "./harness.js";
import { seedProject, serveSeeded, type Seeded } from "./seeded.js";

let seeded: Seeded;
beforeEach(async () => {
  seeded = await seedProject();
});
afterEach(() => seeded.project.remove());

const threads = (argv: string[], options: CliOptions = {}) =>
  cli(["threads", ...argv], { cwd: seeded.project.dir, ...options });

interface Listed {
  items: { thread_id: string; status: string; metadata: Record<string, unknown> }[];
  next: number | null;
}
const list = async (...argv: string[]): Promise<Listed> => {
  const { code, stdout, stderr } = await threads(["list", "--json", ...argv]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Listed;
};
const idsOf = ({ items }: Listed): string[] => items.map(({ thread_id }) => thread_id);

describe("threads list", () => {
  const COLUMNS = ["ID", "GRAPH", "STATUS", "UPDATED", "RUNS", "TOKENS", "TITLE"];

  it.each([
    [[], COLUMNS, ""],
    [["--messages"], [...COLUMNS, "LAST MESSAGE"], " +ai: echo: other two"],
  ])("the table has one row per thread: %j", async (flags, columns, message) => {
    const { stdout } = await threads(["list", ...flags]);
    const [head = "", ...rows] = stdout.trimEnd().split("\n");
    expect(head.split(/ {2,}/)).toEqual(columns);
    expect(rows).toHaveLength(4);
    expect(rows[0]).toMatch(new RegExp(`^${seeded.chat} +agent +idle +\\S+ +3 +0 +\\S.*${message}$`));
  });

  it("filters and sort order are applied", async () => {
    const { chat, asking, failed, vault } = seeded;
    expect(idsOf(await list("--status", "interrupted"))).toEqual([asking]);
    expect(idsOf(await list("--metadata", "user=ada", "--metadata", "count=3"))).toEqual([chat]);
    expect(idsOf(await list("--metadata", 'count="3"'))).toEqual([]);
    expect(idsOf(await list("--values", "topic=cats"))).toEqual([asking]);
    expect(idsOf(await list("--sort", "created_at:asc"))).toEqual([vault, failed, asking, chat]);
  });

  it("--limit and --offset page through the threads", async () => {
    const all = idsOf(await list());
    const first = await list("--limit", "3");
    expect(first.next).toBe(3);
    const second = await list("--limit", "3", "--offset", "3");
    expect([...idsOf(first), ...idsOf(second)]).toEqual(all);
    expect(second.next).toBeNull();
    expect((await threads(["list", "--limit", "3"])).stderr).toContain("more items: --offset 3");
  });

  it("--since excludes older threads", async () => {
    expect(idsOf(await list("--since", "1h"))).toHaveLength(4);
    expect(await list("--since", "2999-01-01")).toEqual({ items: [], next: null });
    const { stdout } = await threads(["get", seeded.asking, "--json"]);
    const { updated_at } = JSON.parse(stdout) as { updated_at: string };
    expect(idsOf(await list("--since", updated_at))).toEqual([seeded.chat, seeded.asking]);
    expect(idsOf(await list("--since", updated_at, "--sort", "created_at:asc"))).toEqual([
      seeded.asking,
      seeded.chat,
    ]);
  });

  it("--jsonl prints one thread per line", async () => {
    const { stdout } = await threads(["list", "--jsonl"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { thread_id: string });
    expect(lines.map(({ thread_id }) => thread_id)).toEqual(idsOf(await list()));
  });
});

describe.each(["offline", "on a server"])("changing threads %s", (where) => {
  let server: RunningServer | undefined;
  let place: string[];
  beforeEach(async () => {
    server = where === "offline" ? undefined : await serveSeeded(seeded.project);
    place = server ? ["--url", server.url] : [];
  });
  afterEach(() => server?.close(0));
  const at = (argv: string[]) => threads([...argv, ...place]);

  it("create prints only the id", async () => {
    const { code, stdout } = await at([
      "create",
      "--metadata",
      "user=bob",
      "--metadata",
      "n=1",
      "--ttl",
      "60",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
    const { stdout: shown } = await at(["get", stdout.trim(), "--json"]);
    expect(JSON.parse(shown)).toMatchObject({ metadata: { user: "bob", n: 1 }, ttl: { ttl_minutes: 60 } });
  });

  it("an existing id exits with code 5", async () => {
    const { code, stdout } = await at(["create", "--id", seeded.chat, "--json"]);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "thread_exists" } });
    const kept = await at(["create", "--id", seeded.chat, "--if-exists", "do_nothing"]);
    expect(kept).toMatchObject({ code: 0, stdout: `${seeded.chat}\n` });
  });

  it("copy takes the state without the history", async () => {
    const { stdout } = await at(["copy", seeded.chat]);
    const { stdout: text } = await at(["get", stdout.trim(), "--json"]);
    const copy = JSON.parse(text) as { metadata: object; values: { messages: unknown[] } };
    expect(copy.metadata).toMatchObject({ forked_from: seeded.chat, user: "ada" });
    expect(copy.values.messages).toHaveLength(4);
  });

  it("patch merges metadata", async () => {
    const { stdout } = await at(["patch", seeded.chat, "--metadata", "user=bob", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ metadata: { user: "bob", count: 3 } });
  });

  it("delete removes runs and checkpoints", async () => {
    const { code, stdout } = await at(["delete", seeded.chat, seeded.asking, "--yes", "--json"]);
    expect({ code, stdout: JSON.parse(stdout) as unknown }).toEqual({
      code: 0,
      stdout: { deleted: [seeded.chat, seeded.asking] },
    });
    for (const argv of [["inspect", "thread"], ["runs", "list"], ["history"]]) {
      expect((await cli([...argv, seeded.chat, ...place], { cwd: seeded.project.dir })).code).toBe(4);
    }
  });

  it("delete removes nothing if one id is unknown", async () => {
    const { code } = await at(["delete", seeded.chat, "0198c0de-0000-7000-8000-000000000000", "--yes"]);
    expect(code).toBe(4);
    expect((await at(["get", seeded.chat])).code).toBe(0);
  });

  it("prune lists threads, then deletes them", async () => {
    const young = await at(["prune", "--older-than", "1h", "--yes", "--json"]);
    expect(JSON.parse(young.stdout)).toEqual({ items: [], next: null, deleted: 0 });
    const dry = await at(["prune", "--older-than", "0s", "--dry-run", "--status", "error"]);
    expect(dry.stdout).toContain(seeded.failed);
    expect(dry.stderr).toContain("nothing was deleted");
    expect((await at(["get", seeded.failed])).code).toBe(0);
    const real = await at(["prune", "--older-than", "0s", "--status", "error", "--yes", "--json"]);
    expect(JSON.parse(real.stdout)).toMatchObject({ items: [{ thread_id: seeded.failed }], deleted: 1 });
    expect((await at(["get", seeded.failed])).code).toBe(4);
    expect((await at(["get", seeded.chat])).code).toBe(0);
  });
});

describe("confirmation of deletes", () => {
  it("deleting without a terminal requires --yes", async () => {
    for (const argv of [
      ["delete", seeded.chat],
      ["prune", "--older-than", "0s"],
    ]) {
      const { code, stderr } = await threads(argv);
      expect(code).toBe(2);
      expect(stderr).toContain("add --yes");
    }
    expect((await threads(["get", seeded.chat])).code).toBe(0);
  });

  it.each([
    ["n", 0],
    ["y", 4],
  ])("the answer %s at the prompt is respected", async (answer, code) => {
    const running = startCli(["threads", "delete", seeded.chat], { cwd: seeded.project.dir, isTTY: true });
    await running.stderr.until(/\[y\/N\] /);
    running.stdin.push(`${answer}\n`);
    expect(await running.exit).toBe(0);
    expect((await threads(["get", seeded.chat])).code).toBe(code);
  });
});

describe("fork of a thread on a server", () => {
  it("a server that ignores the checkpoint is detected, and its copy is deleted", async () => {
    const server = await serveSeeded(seeded.project);
    const deleted: string[] = [];
    // Ignores unknown parameters, like LangGraph's own server.
    const other = createServer((req, res) => {
      void (async () => {
        const { method = "GET", url: asked = "" } = req;
        const url = asked.replace(/(\/copy)\?.*/, "$1");
        const body = method === "POST" ? await text(req) : undefined;
        const answer = await fetch(server.url + url, { method, ...(body && { body }) });
        if (method === "DELETE") deleted.push(url);
        res.writeHead(answer.status).end(await answer.text());
      })();
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { dir: cwd } = seeded.project;
    try {
      const before = idsOf(await list("--limit", "50"));
      const { code, stdout } = await cli(["fork", `${seeded.chat}@0`, "--url", url, "--json"], { cwd });
      expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "unsupported_option" } }]);
      expect(deleted).toHaveLength(1);
      expect(idsOf(await list("--limit", "50"))).toEqual(before);
      const own = await cli(["fork", `${seeded.chat}@0`, "--url", server.url, "--json"], { cwd });
      expect([own.code, JSON.parse(own.stdout)]).toMatchObject([
        0,
        { thread: { metadata: { forked_from: seeded.chat }, values: { messages: [{ content: "one" }] } } },
      ]);
    } finally {
      other.close();
      await server.close(0);
    }
  });
});
