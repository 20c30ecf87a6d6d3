/** The guides of docs/guides, followed step by step, and checks of their manifests and types. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SETTING_NAMES, variableName } from "../src/config/environment.js";
import { ROUTES } from "../src/http/route-table.js";
import { openService, startServer, type Authenticate } from "../src/index.js";
import { createProject, echoGraph } from "./cli/harness.js";
import { servePage } from "./clients/page/serve.js";
import { describeWithChromium, useChromium } from "./helpers/chromium.js";
import { freePort } from "./helpers/free-port.js";
import {
  bundle,
  createFromTemplate,
  importedPackages,
  installedPackages,
  isInstalled,
  skip,
  typeErrors,
  typeScriptFiles,
} from "./helpers/guide-checks.js";
import { installPackage } from "./helpers/compiled.js";
import { type Block, markedBlocks, ROOT } from "./helpers/markdown.js";
import { type OpenAiApi, openAiApi } from "./helpers/openai-api.js";
import { type TestPostgres, withPostgres } from "./helpers/postgres.js";
import { stopProgram } from "./helpers/programs.js";
import { Database } from "./helpers/sqlite-database.js";
import { settled, Tour } from "./helpers/tour.js";
import { describeSqlite } from "./helpers/with-sqlite.js";

const GUIDES = readdirSync(join(ROOT, "docs/guides"))
  .sort()
  .map((name) => `docs/guides/${name}`);
const guide = (name: string) => `docs/guides/${name}.md`;

/** Packages of the guides that are not dev dependencies. */
const ELSEWHERE = ["next"];

const block = (document: string, kind: string, name: string): string =>
  markedBlocks(document).find((one) => one.kind === kind && one.name === name)?.text ?? "";

/** Executes a guide in a project folder of its own. */
class Follower {
  readonly #tour: Tour;
  /** Servers of the test by the address that the guide shows instead. */
  readonly #addresses: Record<string, string>;
  readonly folder: string;

  private constructor(tour: Tour, folder: string, addresses: Record<string, string>) {
    this.#tour = tour;
    this.folder = folder;
    this.#addresses = addresses;
  }

  static async open(addresses: Record<string, string> = {}): Promise<Follower> {
    const tour = await Tour.open();
    return new Follower(tour, await tour.enter("my-agent"), addresses);
  }

  get address(): string {
    return this.#tour.address;
  }

  close = () => this.#tour.close();

  async follow(step: Block): Promise<string> {
    if (step.kind === "project") {
      await createFromTemplate(step.name, this.folder);
      return "";
    }
    let { text } = step;
    for (const [written, actual] of Object.entries(this.#addresses)) text = text.replaceAll(written, actual);
    return this.#tour.follow({ ...step, text });
  }
}

/** Token counts also differ between models. */
const comparable = (text: string) =>
  settled(text)
    .replace(/\b\d+ tokens\b/g, "N tokens")
    .trimEnd();

/** Declares one test per step of a guide. */
function follows(document: string, open: () => Follower): void {
  const steps = markedBlocks(document).filter(({ kind }) =>
    ["project", "file", "run", "serve"].includes(kind),
  );
  it.each(steps.map((step): [string, Block] => [`${step.kind} ${step.name}`, step]))(
    "%s",
    async (_, step) => {
      const printed = await open().follow(step);
      if (step.output) expect(comparable(printed)).toBe(comparable(step.output.text));
    },
  );
}

/** Guides whose commands or servers keep threads in SQLite. */
const ON_SQLITE = ["ci", "debug-wrong-answer", "from-langgraph-server", "nextjs", "upgrade"];

/** Follows a guide. `addresses` returns servers of the test by the address that the guide shows. */
function declareGuide(
  name: string,
  setup?: (folder: string) => Promise<void>,
  more?: (follower: () => Follower) => void,
  addresses?: () => Promise<Record<string, string>>,
): void {
  const declare = ON_SQLITE.includes(name) ? describeSqlite : describe;
  declare(`${guide(name)}, step by step`, () => {
    let follower: Follower | undefined;
    const current = () => follower ?? expect.fail("the guide was not opened");
    beforeAll(async () => {
      follower = await Follower.open(await addresses?.());
      await setup?.(follower.folder);
    });
    afterAll(() => follower?.close());
    follows(guide(name), current);
    more?.(current);
  });
}

describe("the packages that the guides install", () => {
  const names = GUIDES.flatMap((document) =>
    markedBlocks(document)
      .filter(({ kind }) => kind === "install")
      .flatMap(({ text }) => installedPackages(text)),
  );
  it.each([...new Set(names)].filter((name) => name !== "graph-serve"))("%s is installed", (name) => {
    expect(isInstalled(name)).toBe(true);
  });
});

describe("the TypeScript of the guides", () => {
  const checked: string[] = [];
  for (const document of GUIDES) {
    const files = typeScriptFiles(document);
    if (files.length === 0) continue;
    const imported = files.flatMap(({ text }) => importedPackages(text));
    const missing = imported.filter((name) => name !== "graph-serve" && !isInstalled(name));
    if (missing.length > 0) skip(`types of ${document}`, `no package ${missing.join(", ")}`);
    else checked.push(document);
  }
  let errors = new Map<string, string[]>();
  beforeAll(async () => {
    errors = await typeErrors(checked);
  });
  it.each(checked)("has no type errors in %s", (document) => {
    expect(errors.get(document)).toEqual([]);
  });
});

/** A model server that counts requests instead of OpenAI. */
let api: OpenAiApi | undefined;
declareGuide(
  "real-model",
  undefined,
  () => {
    it("asked the model in runs and recordings only, with the key of .env", () => {
      expect(api?.keys).toEqual(["your-key", "your-key"]);
    });
    afterAll(() => api?.close());
  },
  async () => {
    api = await openAiApi();
    return { "https://api.openai.com/v1": api.url };
  },
);

declareGuide("debug-wrong-answer");

if (isInstalled("jose")) {
  declareGuide("jwt", undefined, (follower) => {
    it("verifies tokens with the published keys of a provider", async () => {
      const { authenticate, sign } = await providerOf(follower().folder);
      const request = (token: string) => ({
        method: "GET",
        path: "/threads",
        headers: { authorization: `Bearer ${token}` },
      });
      const valid = await sign("https://issuer.example.com");
      expect(await authenticate(request(valid))).toMatchObject({ identity: "ada" });
      const foreign = await sign("https://other.example.com");
      await expect(authenticate(request(foreign))).rejects.toThrow("iss");
      expect(await authenticate({ ...request(""), headers: {} })).toBeUndefined();
    });
  });
} else skip(guide("jwt"), "no package jose");

/** The function of auth-provider.ts with the keys of a provider of this test. */
async function providerOf(folder: string) {
  const { exportJWK, generateKeyPair, SignJWT } = await import("jose");
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256" }] };
  const server = createServer((_, res) =>
    res.setHeader("Content-Type", "application/json").end(JSON.stringify(jwks)),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  vi.stubEnv("JWT_KEYS_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  vi.stubEnv("JWT_ISSUER", "https://issuer.example.com");
  vi.stubEnv("JWT_AUDIENCE", "my-agent");
  const { authenticate } = (await import(pathToFileURL(join(folder, "auth-provider.ts")).href)) as {
    authenticate: Authenticate;
  };
  const sign = (issuer: string) =>
    new SignJWT()
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .setIssuer(issuer)
      .setAudience("my-agent")
      .setSubject("ada")
      .setExpirationTime("1h")
      .sign(privateKey);
  return { authenticate, sign };
}
afterEach(() => void vi.unstubAllEnvs());

/** The old server: graph-serve with the defaults of LangGraph's server, and two threads. */
let closeOld: (() => Promise<unknown>) | undefined;
declareGuide(
  "from-langgraph-server",
  undefined,
  () => afterAll(() => closeOld?.()),
  async () => {
    const graphs = { agent: `${join(ROOT, "templates/chat/graph.ts")}:graph` };
    const service = await openService({ graphs, settings: { compat: "langgraph" } });
    const server = await startServer(service, { host: "127.0.0.1", port: 0 });
    closeOld = () => server.close(0);
    const client = new Client({ apiUrl: server.url, apiKey: null });
    const says = async (digit: string, content: string) => {
      const threadId = "NNNNNNNN-NNNN-4NNN-8NNN-NNNNNNNNNNNN".replaceAll("N", digit);
      await client.runs.wait(threadId, "agent", {
        input: { messages: [{ role: "user", content }] },
        ifNotExists: "create",
      });
    };
    await says("2", "my name is Ada");
    await says("3", "hello");
    return { "https://old.example.com": server.url };
  },
);
skip("from-langgraph-server: copying from LangGraph's own server", "it is not available here");

interface Workflow {
  jobs: Record<string, { steps: { run?: string }[] }>;
}

declareGuide("ci", undefined, (follower) => {
  const workflow = parse(block(guide("ci"), "file", ".github/workflows/graphs.yml")) as Workflow;
  const commands = Object.values(workflow.jobs)
    .flatMap(({ steps }) => steps.map(({ run }) => run ?? ""))
    .filter((run) => run.startsWith("npx graph-serve"));
  it.each(commands)("the workflow step passes: %s", async (text) => {
    await follower().follow({ kind: "run", name: "step", language: "sh", text });
  });
  it("the workflow runs three commands, and the GitLab file is valid", () => {
    expect(commands).toHaveLength(3);
    const { graphs } = parse(block(guide("ci"), "file", ".gitlab-ci.yml")) as {
      graphs: { script: string[] };
    };
    expect(graphs.script[1]).toMatch(/^npx graph-serve test --ci/);
  });
});

declareGuide("upgrade", async (folder) => {
  await createFromTemplate("chat", folder);
  const config = {
    graphs: { agent: "./graph.ts:graph" },
    checkpointer_scheme: "sqlite",
    checkpointer_uri: "./threads.db",
  };
  await writeFile(join(folder, "graph-server.config.json"), JSON.stringify(config));
  const db = new Database(join(folder, "threads.db"));
  db.exec(readFileSync(join(import.meta.dirname, "fixtures/storage/threads-0.1.0.sql"), "utf8"));
  db.close();
});
skip("upgrade: the commands with 0.1.0", "graph-serve 0.1.0 is not in a registry");

declareGuide("deploy");
skip("deploy: docker build", "base images cannot be downloaded");
skip("deploy: kubectl apply, fly deploy", "no cluster and no account");

const VARIABLES = new Set<string>([...SETTING_NAMES.map(variableName), "NODE_ENV"]);
const PATHS: string[] = ROUTES.map(({ path }) => path);
/** Seconds that a process needs beyond its grace period. */
const STOP_SECONDS = 5;

interface Probe {
  httpGet: { path: string; port: string };
}
interface Container {
  command: string[];
  ports: { name: string; containerPort: number }[];
  env: { name: string; valueFrom: { secretKeyRef: { name: string; key: string } } }[];
  livenessProbe: Probe;
  readinessProbe: Probe;
  startupProbe: Probe;
  lifecycle?: { preStop: { exec: { command: string[] } } };
}
interface Manifest {
  kind: string;
  metadata: { name: string };
  data: Record<string, string>;
  spec: {
    replicas: number;
    selector: { matchLabels?: object; app?: string };
    ports: { targetPort: string }[];
    rules: { host: string; http: { paths: { backend: { service: { name: string } } }[] } }[];
    template: {
      metadata: { labels: { app: string } };
      spec: { terminationGracePeriodSeconds: number; containers: [Container] };
    };
  };
}

const manifests = parseAllDocuments(block(guide("deploy"), "manifest", "kubernetes")).map((one) => {
  expect(one.errors).toEqual([]);
  return one.toJS() as Manifest;
});
const ofKind = (kind: string) => manifests.filter((one) => one.kind === kind);
const [configMap] = ofKind("ConfigMap");
const config = configMap?.data ?? {};
const text = readFileSync(join(ROOT, guide("deploy")), "utf8");

describe("the Kubernetes manifest", () => {
  const portOf = { http: config.GRAPH_SERVE_PORT, health: config.GRAPH_SERVE_HEALTH_PORT };

  it("configures existing settings, and secrets that the guide creates", () => {
    const containers = ofKind("Deployment").map(({ spec }) => spec.template.spec.containers[0]);
    const env = containers.flatMap((one) => one.env);
    for (const name of [...Object.keys(config), ...env.map((one) => one.name)])
      expect(VARIABLES).toContain(name);
    for (const { valueFrom } of env) expect(text).toContain(`--from-literal=${valueFrom.secretKeyRef.key}=`);
  });

  it.each(ofKind("Deployment").map((one): [string, Manifest] => [one.metadata.name, one]))(
    "%s has probes of served paths and ports, and time to shut down",
    (_, { spec }) => {
      const { terminationGracePeriodSeconds, containers } = spec.template.spec;
      const [{ ports, lifecycle, ...probes }] = containers;
      expect(Object.fromEntries(ports.map((one) => [one.name, String(one.containerPort)]))).toEqual(portOf);
      expect(probes.livenessProbe.httpGet).toEqual({ path: "/ok", port: "health" });
      for (const probe of [probes.readinessProbe, probes.startupProbe])
        expect(probe.httpGet).toEqual({ path: "/ready", port: "http" });
      expect(PATHS).toEqual(expect.arrayContaining(["/ok", "/ready"]));
      const pause = Number(lifecycle?.preStop.exec.command[1] ?? 0);
      const needed = pause + Number(config.GRAPH_SERVE_SHUTDOWN_GRACE_SECONDS) + STOP_SECONDS;
      expect(terminationGracePeriodSeconds).toBeGreaterThan(needed);
    },
  );

  it("routes the host of the settings to the API servers", () => {
    const [service] = ofKind("Service");
    const [ingress] = ofKind("Ingress");
    const [rule] = ingress?.spec.rules ?? [];
    expect(rule?.http.paths[0]?.backend.service.name).toBe(service?.metadata.name);
    expect(config.GRAPH_SERVE_ALLOWED_HOSTS?.split(",")).toEqual([rule?.host, service?.metadata.name]);
    const labels = ofKind("Deployment").map((one) => one.spec.template.metadata.labels.app);
    expect(labels).toContain(service?.spec.selector.app);
  });
});

/** Assignments of a TOML file by section; enough for a fly.toml. */
function tomlOf(source: string): Record<string, Record<string, unknown>> {
  const sections: Record<string, Record<string, unknown>> = { "": {} };
  let section = "";
  for (const line of source.split("\n").map((one) => one.trim())) {
    const [, head] = /^\[+([\w.]+)\]+$/.exec(line) ?? [];
    const [, key, value] = /^(\w+) = (.+)$/.exec(line) ?? [];
    if (head !== undefined) sections[(section = head)] ??= {};
    else if (key !== undefined) (sections[section] ??= {})[key] = JSON.parse(value ?? "") as unknown;
    else expect(line).toBe("");
  }
  return sections;
}

const fly = tomlOf(block(guide("deploy"), "manifest", "fly"));
const flyEnv = (fly.env ?? {}) as Record<string, string>;

describe("fly.toml", () => {
  it("configures existing settings, routes and ports, and time to shut down", () => {
    for (const name of Object.keys(flyEnv)) expect(VARIABLES).toContain(name);
    for (const checks of ["http_service.checks", "checks.worker"]) expect(PATHS).toContain(fly[checks]?.path);
    const port = Number(flyEnv.GRAPH_SERVE_PORT);
    expect([fly.http_service?.internal_port, fly["checks.worker"]?.port]).toEqual([port, port]);
    const grace = Number(flyEnv.GRAPH_SERVE_SHUTDOWN_GRACE_SECONDS);
    expect(parseInt(String(fly[""]?.kill_timeout))).toBeGreaterThan(grace + STOP_SECONDS);
    expect(flyEnv.GRAPH_SERVE_ALLOWED_HOSTS).toBe(`${String(fly[""]?.app)}.fly.dev`);
  });
});

describe("the docker command", () => {
  it("sets existing settings, and time to shut down", () => {
    const command = block(guide("deploy"), "commands", "docker");
    const names = Array.from(command.matchAll(/-e (\w+)=/g), ([, name]) => name);
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) expect(VARIABLES).toContain(name);
    expect(Number(/--stop-timeout (\d+)/.exec(command)?.[1])).toBeGreaterThan(10 + STOP_SECONDS);
  });
});

withPostgres("the processes of the manifests", (postgres) => {
  beforeAll(async () => {
    installed = await installPackage();
  });
  afterAll(() => rm(installed, { recursive: true, force: true }));
  const commandsOf = {
    kubernetes: Object.fromEntries(
      ofKind("Deployment").map((one) => [one.metadata.name, one.spec.template.spec.containers[0].command]),
    ),
    fly: Object.fromEntries(
      Object.entries(fly.processes ?? {}).map(([name, command]) => [name, String(command).split(" ")]),
    ),
  };
  it.each([
    ["Kubernetes", commandsOf.kubernetes, config],
    ["Fly.io", commandsOf.fly, flyEnv],
  ])("of %s execute a run and pass their probes", async (_, commands, env) => {
    const { api: apiUrl, health } = await startAll(postgres, commands, env);
    for (const port of health) expect((await fetch(`http://127.0.0.1:${port}/ok`)).status).toBe(200);
    const client = new Client({ apiUrl, apiKey: KEY });
    const input = { messages: [{ role: "user", content: "hello" }] };
    const values = await client.runs.wait(null, "agent", { input });
    expect(values).toMatchObject({ messages: [{ content: "hello" }, { content: "echo: hello" }] });
  });
});

const KEY = "a-key-of-the-test";

let installed: string;

/** A process of the built package: the watchdog thread, which serves the health port, needs one. */
function startProcess(argv: string[], cwd: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [join(installed, "bin/graph-serve.js"), ...argv], {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const url = new Promise<string>((resolve, reject) => {
    let log = "";
    child.stderr.on("data", (part) => {
      log += String(part);
      const [, found] = /"url":"([^"]+)"[^\n]*"msg":"listening"\}\n/.exec(log) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", (code) => reject(new Error(`exited with code ${code}: ${log}`)));
  });
  return { child, url };
}

/** Starts one process per command with the environment of a manifest, on free ports. */
async function startAll(
  postgres: TestPostgres,
  commands: Record<string, string[]>,
  env: Record<string, string>,
): Promise<{ api: string; health: number[] }> {
  const project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": JSON.stringify({
      graphs: { agent: "./graph.ts:graph" },
      checkpointer_options: { schema: postgres.schema, pool_max_size: 3 },
    }),
  });
  const running: ChildProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(running.map((child) => stopProgram(child)));
    await project.remove();
  });
  const health: number[] = [];
  let apiUrl = "";
  for (const [name, command] of Object.entries(commands)) {
    expect(command.slice(0, 2)).toEqual(["node", "node_modules/graph-serve/bin/graph-serve.js"]);
    const { GRAPH_SERVE_HEALTH_PORT, NODE_ENV: _, ...settings } = env;
    const healthPort = GRAPH_SERVE_HEALTH_PORT === undefined ? undefined : await freePort();
    if (healthPort !== undefined) health.push(healthPort);
    const started = startProcess(command.slice(2), project.dir, {
      ...settings,
      GRAPH_SERVE_HOST: "127.0.0.1",
      GRAPH_SERVE_PORT: "0",
      GRAPH_SERVE_SHUTDOWN_GRACE_SECONDS: "1",
      GRAPH_SERVE_CHECKPOINTER_URI: postgres.uri,
      GRAPH_SERVE_API_KEYS: KEY,
      ...(healthPort !== undefined && { GRAPH_SERVE_HEALTH_PORT: String(healthPort) }),
    });
    running.push(started.child);
    const url = await started.url;
    expect((await fetch(`${url}/ready`)).status, name).toBe(200);
    if (name.endsWith("api")) apiUrl = url;
  }
  return { api: apiUrl, health };
}

describeWithChromium("the pages of the guides, in Chromium", () => {
  const show = useChromium();

  const say = async (page: Page, message: string) => {
    await page.getByLabel("Message").fill(message);
    await page.getByRole("button", { name: "Send" }).click();
  };
  const texts = (page: Page) => page.locator("li").allTextContents();
  const answer = (message: string) =>
    `Hello! You said: "${message}". I am a stand-in for a real model; see model.ts.`;

  declareGuide("react-chat", undefined, (follower) => {
    it("the page streams an answer, and shows it after a reload", async () => {
      const origin = await servePage(await bundle(join(follower().folder, "chat")));
      const { page, faults } = await show();
      await page.goto(origin);
      await say(page, "hello");
      await expect.poll(() => texts(page)).toEqual(["hello", answer("hello")]);
      await page.reload();
      await expect.poll(() => texts(page)).toEqual(["hello", answer("hello")]);
      expect(faults).toEqual([]);
    });
  });

  declareGuide("nextjs", undefined, (follower) => {
    it("the page streams an answer through the route, which adds the key", async () => {
      const web = join(follower().folder, "web");
      vi.stubEnv("GRAPH_SERVE_URL", follower().address);
      vi.stubEnv(
        "GRAPH_SERVE_API_KEY",
        /API_KEY=(.+)/.exec(readFileSync(join(web, ".env.local"), "utf8"))?.[1],
      );
      await writeFile(
        join(web, "index.html"),
        '<!doctype html><link rel="icon" href="data:,"><div id="root"></div><script type="module" src="/main.tsx"></script>',
      );
      await writeFile(
        join(web, "main.tsx"),
        `import { createRoot } from "react-dom/client";
import { Chat } from "./app/chat";
createRoot(document.getElementById("root")!).render(<Chat />);`,
      );
      const origin = await serveWithRoute(await bundle(web), join(web, "app/api/agents/route.ts"));
      const { page, faults } = await show();
      await page.goto(origin);
      await say(page, "hello");
      await expect.poll(() => texts(page)).toEqual(["hello", answer("hello")]);
      expect(faults).toEqual([]);
    });
  });
});
for (const name of ELSEWHERE) if (!isInstalled(name)) skip(`nextjs: ${name} build`, `no package ${name}`);

type Handler = (request: Request) => Promise<Response>;

/** Serves a page, and a route handler below /api, as Next.js does. */
async function serveWithRoute(
  files: ReadonlyMap<string, string | Uint8Array>,
  route: string,
): Promise<string> {
  const handlers = (await import(pathToFileURL(route).href)) as Record<string, Handler>;
  const server = createServer((req, res) => {
    void (async () => {
      const path = req.url ?? "/";
      if (!path.startsWith("/api/")) {
        const name = path === "/" ? "/index.html" : path;
        const type = name.endsWith(".js") ? "text/javascript" : "text/html";
        return res.writeHead(files.has(name) ? 200 : 404, { "Content-Type": type }).end(files.get(name));
      }
      const gone = new AbortController();
      res.on("close", () => gone.abort());
      const parts: Buffer[] = [];
      for await (const part of req) parts.push(part as Buffer);
      const request = new Request(`http://web${path}`, {
        method: req.method,
        headers: Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]),
        body: parts.length > 0 ? Buffer.concat(parts) : undefined,
        signal: gone.signal,
      });
      const response = await handlers[req.method ?? ""]?.(request);
      res.writeHead(response?.status ?? 405, Object.fromEntries(response?.headers ?? []));
      res.flushHeaders();
      for await (const part of response?.body ?? []) res.write(part);
      return res.end();
    })().catch(() => res.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
