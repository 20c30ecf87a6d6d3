/** API keys: commands send the key with every request and never print it. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { startServer } from "../../src/http/server.js";
import type { RunningServer } from "../../src/http/listen.js";
import { openService } from "../../src/service/open.js";
import { cli, type CliOptions, type CliResult } from "./harness.js";
import { seedProject, type Seeded } from "./seeded.js";

const KEY = "correct-horse-battery";
const WRONG = "wrong-donkey-battery";

let seeded: Seeded;
let server: RunningServer;
beforeAll(async () => {
  seeded = await seedProject();
  const service = await openService({
    cwd: seeded.project.dir,
    graphs: { agent: "./graph.ts", ask: "./ask.ts", fail: "./fail.ts", vault: "./vault.ts" },
    settings: {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: ".graph-serve/dev.db",
      api_keys: [KEY],
    },
  });
  server = await startServer(service, { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close(0);
  await seeded.project.remove();
});

const run = (argv: string[], options: CliOptions = {}): Promise<CliResult> =>
  cli(argv, { cwd: seeded.project.dir, ...options });

/** Every command that sends requests to a server, with arguments for the seeded threads. */
const commands = ({ chat, run: runId }: Seeded): string[][] => [
  ["threads", "list"],
  ["inspect", "thread", chat],
  ["threads", "create"],
  ["fork", chat],
  ["threads", "patch", chat, "--metadata", "seen=true"],
  ["threads", "delete", chat, "--yes"],
  ["threads", "prune", "--older-than", "30d", "--yes"],
  ["runs", "list", chat],
  ["inspect", "run", runId, "--thread", chat],
  ["inspect", "thread", chat],
  ["inspect", "run", runId],
  ["inspect", "checkpoint", chat],
  ["inspect", "state", chat],
  ["history", chat],
  ["replay", chat],
  ["diff", chat, chat],
  ["fork", chat],
  ["state", "set", chat, "--values", "{}"],
  ["export", chat],
  ["graph"],
  ["schemas"],
  ["run", "--message", "hi"],
  ["test"],
];
const URL_FLAG = () => ["--url", server.url];

describe("a server with API keys", () => {
  it.each(["none", "another"])(
    "each command exits with code 2 and a fix if its API key is: %s",
    async (which) => {
      const key = which === "none" ? [] : ["--api-key", WRONG];
      for (const argv of commands(seeded)) {
        const { code, stdout, stderr } = await run([...argv, ...URL_FLAG(), ...key, "--json", "--verbose"]);
        const text = stdout + stderr;
        expect({ argv, code, shown: text.includes(WRONG) }).toEqual({ argv, code: 2, shown: false });
        expect(JSON.parse(stdout), argv.join(" ")).toMatchObject({
          error: {
            code: "unauthorized",
            message: expect.stringContaining(which === "none" ? "requires an API key" : "rejected") as string,
            hint: expect.stringContaining("GRAPH_SERVE_API_KEY") as string,
          },
        });
      }
    },
  );

  it("each command sends the key from --api-key or GRAPH_SERVE_API_KEY", async () => {
    const reading = commands(seeded).filter(([name = "", what]) => what !== "delete" && name !== "test");
    for (const argv of reading) {
      for (const given of [
        { flags: ["--api-key", KEY], env: { GRAPH_SERVE_API_KEY: WRONG } },
        { flags: [], env: { GRAPH_SERVE_API_KEY: KEY } },
      ]) {
        const { code, stdout, stderr } = await run(
          [...argv, ...URL_FLAG(), ...given.flags, "--verbose"],
          given,
        );
        expect({ argv, code, shown: (stdout + stderr).includes(KEY) }).toEqual({
          argv,
          code: 0,
          shown: false,
        });
      }
    }
  });

  it("an empty GRAPH_SERVE_API_KEY counts as unset", async () => {
    const { stdout } = await run(["threads", "list", "--json", ...URL_FLAG()], {
      env: { GRAPH_SERVE_API_KEY: "" },
    });
    expect(stdout).toContain("requires an API key");
  });

  it("a key that is not a valid header value is rejected and not printed", async () => {
    const { code, stderr } = await run(["threads", "list", "--api-key", "two words\n", ...URL_FLAG()]);
    expect(code).toBe(2);
    expect(stderr).toContain("--api-key must be");
    expect(stderr).not.toContain("two words");
  });

  it("GRAPH_SERVE_API_KEY causes no warning about an unknown setting", async () => {
    const { code, stderr } = await run(["threads", "list", "-q"], { env: { GRAPH_SERVE_API_KEY: KEY } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("an unknown server", () => {
  let other: Server;
  let address: string;
  beforeAll(async () => {
    other = createServer((req, res) => {
      const key = String(req.headers["x-api-key"]);
      if (req.url?.startsWith("/site"))
        res.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end("<p>welcome</p>");
      else if (req.url?.startsWith("/moved")) res.writeHead(307, { location: "http://127.0.0.1:9/" }).end();
      else res.writeHead(403, { "content-type": "text/plain" }).end(`no: ${key}`);
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  });
  afterAll(() => other.close());

  it("a key echoed by the server is masked in the output", async () => {
    const { code, stdout } = await run(["threads", "list", "--url", address, "--api-key", KEY, "--json"]);
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "unauthorized" } }]);
    expect(stdout).toContain("no: ***");
  });

  it("the server does not receive the key from LANGSMITH_API_KEY", async () => {
    vi.stubEnv("LANGSMITH_API_KEY", "key-of-langsmith");
    try {
      const { stdout } = await run(["threads", "list", "--url", address, "--json"]);
      expect(stdout).toContain("no: undefined");
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("a web page is reported as not a LangGraph server", async () => {
    const { code, stderr } = await run(["threads", "list", "--url", `${address}/site`]);
    expect(code).toBe(3);
    expect(stderr).toContain("it responds with a web page, so it is not a LangGraph server");
  });

  it("a redirect does not forward the API key", async () => {
    const { code, stderr } = await run(["threads", "list", "--url", `${address}/moved`, "--api-key", KEY]);
    expect(code).toBe(2);
    expect(stderr).toContain("to http://127.0.0.1:9/");
  });
});
