// Packs the package, installs it into an empty folder with a separate copy of LangGraph, and serves a
// template there.
import { spawn, spawnSync } from "node:child_process";
import assert from "node:assert/strict";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

/** Maximum size of the tarball, in bytes. */
const MOST_BYTES = 2_000_000;
const ROOT = join(import.meta.dirname, "..");
const INSTALL_LIMIT_MS = 900_000;
/** Overridden with a reference to this checkout's dependency, which other projects do not have. */
const SDK = "@langchain/langgraph-sdk";
const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 20_000;
const POSTGRES = process.env.GRAPH_SERVE_TEST_POSTGRES_URI ?? "postgresql://postgres@127.0.0.1:5432/test";
const OPTIONAL = [
  "@a2a-js/sdk",
  "@langchain/langgraph-checkpoint-postgres",
  "@modelcontextprotocol/sdk",
  "@modelcontextprotocol/server",
  "pg",
  "pg-boss",
];
/** A node that blocks the event loop for four seconds. */
const BLOCKING = `import { Annotation, START, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ done: Annotation() }))
  .addNode("block", () => {
    const end = Date.now() + 4000;
    while (Date.now() < end);
    return { done: "yes" };
  })
  .addEdge(START, "block")
  .compile();
`;

const { devDependencies, overrides, version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "graph-serve-package-"));

try {
  offerSqlite();
  const tarball = pack();
  lintPackage(tarball);
  const folder = install(tarball);
  await checkExports(folder);
  checkTypes(folder);
  checkTesting(folder);
  checkInit(folder);
  checkCommands(folder);
  await checkServing(folder);
  await checkContainer(folder);
  await checkOptional(folder);
  checkClone();
  say("the package installs, serves and stops");
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

/** A project created in a clone uses the clone without a registry, as the README states. */
function checkClone() {
  const project = mkdtempSync(join(ROOT, "my-agent-"));
  try {
    writeFileSync(join(project, "package.json"), '{ "private": true }');
    assert.equal(run("npx", ["--no", "--", "graph-serve", "--version"], project).trim(), version);
    say("a project in the clone uses the clone");
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** Runs a command to its end and returns its output; throws if it fails. */
function run(command, args, cwd, timeout = 180_000, env = process.env) {
  const options = { cwd, timeout, env, encoding: "utf8" };
  const { status, signal, stdout, stderr } = spawnSync(command, args, options);
  assert.equal(
    status,
    0,
    `${command} ${args.join(" ")} exited with ${signal ?? status}\n${stdout}\n${stderr}`,
  );
  return stdout;
}

/**
 * Offers better-sqlite3 as this checkout has it to the two installs: if its binary cannot be downloaded, each would compile
 * it for a minute, as the installation of this checkout did. Another version is installed as usual.
 */
function offerSqlite() {
  const name = "better-sqlite3";
  const folder = join(ROOT, "node_modules", name);
  const binary = "build/Release/better_sqlite3.node";
  if (!existsSync(join(folder, binary))) return;
  const { version: installed } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const { platform, arch, versions } = process;
  // The name that prebuild-install looks for.
  const file = `${name}-v${installed}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  run("tar", ["-czf", join(scratch, file), binary], folder);
  process.env.npm_config_better_sqlite3_local_prebuilds = scratch;
}

/** Packs the tarball as it would be published, and checks that it contains what users need and nothing else. */
function pack() {
  const report = run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", scratch], ROOT);
  const [{ filename, files, size }] = JSON.parse(report);
  const paths = files.map(({ path }) => path);
  const { exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const exported = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [target] : Object.values(target),
  );
  const named = exported.map((path) => path.replace(/^\.\//, ""));
  for (const needed of ["bin/graph-serve.js", "LICENSE", "README.md", "dist/studio/index.html", ...named]) {
    assert.ok(paths.includes(needed), `${needed} is missing from the package; run npm run build`);
  }
  for (const template of ["chat", "agent-tools", "hitl", "minimal"]) {
    assert.ok(paths.includes(`templates/${template}/gitignore`), `template ${template} is incomplete`);
  }
  // Source maps point to sources that are not in the package.
  const strays = paths.filter((path) => /^(src|test|bench|scripts)\/|node_modules|\.(tgz|map)$/.test(path));
  assert.deepEqual(strays, [], "files that must not be in the package");
  assert.ok(size <= MOST_BYTES, `the package has ${size} bytes; the limit is ${MOST_BYTES}`);
  say(`packed ${paths.length} files, ${Math.round(size / 1024)} KB`);
  return join(scratch, filename);
}

/** Checks the manifest with publint, and how TypeScript resolves the types with Are the Types Wrong. */
function lintPackage(tarball) {
  const bin = (name) => join(ROOT, "node_modules/.bin", name);
  run(bin("publint"), ["run", tarball, "--strict"], ROOT);
  // The package has no CommonJS version.
  run(bin("attw"), [tarball, "--profile", "esm-only", "--no-emoji"], ROOT);
  say("publint and attw find no problems");
}

/** Creates a project with the package and LangGraph, and nothing of this repository. */
function install(tarball) {
  const folder = join(scratch, "project");
  mkdirSync(folder);
  const langgraph = ["@langchain/core", "@langchain/langgraph"].map((name) => [name, devDependencies[name]]);
  const dependencies = { "graph-serve": `file:${tarball}`, ...Object.fromEntries(langgraph) };
  const pinned = {
    ...overrides,
    [SDK]: JSON.parse(readFileSync(join(ROOT, "node_modules", SDK, "package.json"))).version,
  };
  const manifest = { name: "project", private: true, type: "module", dependencies, overrides: pinned };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const started = Date.now();
  run("npm", ["install", "--no-audit", "--no-fund"], folder, INSTALL_LIMIT_MS);
  say(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
  const nested = join(folder, "node_modules/graph-serve/node_modules/@langchain/langgraph");
  assert.ok(!existsSync(nested), "graph-serve brought a second copy of LangGraph");
  assert.ok(!existsSync(join(folder, "node_modules/@scarf")), "graph-serve brought install telemetry");
  for (const file of ["graph.ts", "model.ts", "fake-model.ts"]) {
    cpSync(join(ROOT, "templates/chat", file), join(folder, file));
  }
  return folder;
}

async function checkExports(folder) {
  const code = 'import("graph-serve").then((m) => console.log(Object.keys(m).join()))';
  const names = run("node", ["--input-type=module", "-e", code], folder).trim().split(",");
  for (const name of ["createApp", "openService", "defineConfig"]) {
    assert.ok(names.includes(name), `graph-serve does not export ${name}`);
  }
  assert.equal(run("npx", ["--no-install", "graph-serve", "--version"], folder).trim(), version);
}

/** Type-checks both entry points in a strict project with TypeScript's own module resolution. */
function checkTypes(folder) {
  const code = `import { openService, type Service } from "graph-serve";
import { runCases, type SuiteResult } from "graph-serve/testing";
export const service: Service = await openService({ graphs: { agent: "./graph.ts" } });
const { cases }: SuiteResult = await runCases({ name: "answers", snapshots: "check" });
export const failures: string[] = cases.flatMap(({ failures: found }) => found.map(({ message }) => message));
`;
  writeFileSync(join(folder, "types.ts"), code);
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2022", "--skipLibCheck"];
  run("node", [tsc, ...flags, "types.ts"], folder, 120_000);
}

/** Runs the cases of a template through the package with Node's own test runner. */
function checkTesting(folder) {
  const code = `import assert from "node:assert/strict";
import { test } from "node:test";
import { runCases } from "graph-serve/testing";
const { cases } = await runCases({ snapshots: "check" });
assert.ok(cases.length > 0);
for (const { name, failures } of cases) test(name, () => assert.deepEqual(failures, []));
`;
  cpSync(join(ROOT, "templates/chat/agent.graph.yaml"), join(folder, "agent.graph.yaml"));
  writeFileSync(
    join(folder, "graph-server.config.json"),
    JSON.stringify({ graphs: { agent: "./graph.ts" } }),
  );
  writeFileSync(join(folder, "graphs.test.mjs"), code);
  run("node", ["--test", "graphs.test.mjs"], folder);
  run("npx", ["--no-install", "graph-serve", "test", "--ci"], folder);
}

function checkInit(folder) {
  run("npx", ["--no-install", "graph-serve", "init", "made", "-t", "hitl", "--yes"], folder);
  for (const file of ["graph.ts", "package.json", ".gitignore"]) {
    assert.ok(existsSync(join(folder, "made", file)), `init did not create ${file}`);
  }
}

/** Commands whose code and files are loaded on demand. */
function checkCommands(folder) {
  const command = (...argv) => run("npx", ["--no-install", "graph-serve", ...argv], folder);
  const db = ["--db", "./threads.db"];
  command("run", "./graph.ts", "--message", "hello", ...db);
  assert.match(command("threads", "list", ...db), /hello/);
  assert.match(command("replay", "@last", "--format", "html", ...db), /<\/html>/);
  assert.match(command("doctor", "--db", "memory"), /node/);
  assert.match(command("config", "schema"), /checkpointer_uri/);
  command("demo", "--ci", "--port", "0");
}

async function checkServing(folder) {
  const port = await freePort();
  const args = ["--no-install", "graph-serve", "dev", "./graph.ts", "--no-reload", "-p", String(port)];
  // A separate process group, so that a failed check leaves no child of npx running.
  const npx = spawn("npx", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let output = "";
  for (const stream of [npx.stdout, npx.stderr]) stream.on("data", (data) => (output += data));
  const exited = once(npx, "exit");
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url, npx);
    await talk(url);
    // npx does not forward signals; dev records the id of its own process.
    const { pid } = JSON.parse(readFileSync(join(folder, ".graph-serve/dev.json"), "utf8"));
    process.kill(pid, "SIGTERM");
    const [code] = await Promise.race([exited, pause(STOP_LIMIT_MS, ["no exit"], { ref: false })]);
    assert.equal(code, 0, `dev exited with code ${code} after SIGTERM`);
  } catch (error) {
    say(output);
    if (npx.exitCode === null) process.kill(-npx.pid, "SIGKILL");
    throw error;
  }
}

/** Runs the Dockerfile steps that use the package in a clean folder, without building images. */
async function checkContainer(folder) {
  run("npx", ["--no-install", "graph-serve", "dockerfile"], folder);
  const lines = readFileSync(join(folder, "Dockerfile"), "utf8").split("\n");
  const steps = (name) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  // Next to the project, because its lock file names the tarball by a relative path.
  const image = join(scratch, "image");
  mkdirSync(image);
  const [installFiles, rest] = steps("COPY");
  assert.equal(rest, ". .");
  for (const file of installFiles.split(" ").slice(0, -1)) cpSync(join(folder, file), join(image, file));
  for (const step of steps("RUN")) run("sh", ["-euc", step], image, INSTALL_LIMIT_MS);
  const ignored = readFileSync(join(folder, ".dockerignore"), "utf8").replaceAll("**/", "").split("\n");
  for (const file of readdirSync(folder).filter((name) => !ignored.includes(name)))
    cpSync(join(folder, file), join(image, file), { recursive: true });
  const port = await freePort();
  const words = (text) => JSON.parse(text.replaceAll("2024", String(port)));
  const [start, ...args] = words(steps("CMD").at(-1));
  const child = spawn(start, args, { cwd: image, stdio: "ignore" });
  const exited = once(child, "exit");
  try {
    await ready(`http://127.0.0.1:${port}`, child);
    const [probe, ...probeArgs] = words(steps("HEALTHCHECK")[0].replace(/^.* CMD (?=\[)/, ""));
    run(probe, probeArgs, image);
    child.kill("SIGTERM");
    const [code] = await Promise.race([exited, pause(STOP_LIMIT_MS, ["no exit"], { ref: false })]);
    assert.equal(code, 0, `start exited with code ${code} after SIGTERM`);
  } finally {
    if (child.exitCode === null) child.kill("SIGKILL");
  }
  say("the Dockerfile steps create a folder that serves and is healthy");
}

/** Code that is loaded only with optional packages, and the thread of the watchdog. */
async function checkOptional(folder) {
  const packages = OPTIONAL.map((name) => `${name}@${devDependencies[name]}`);
  run("npm", ["install", "--no-audit", "--no-fund", ...packages], folder, INSTALL_LIMIT_MS);
  writeFileSync(join(folder, "block.mjs"), BLOCKING);
  await checkMcp(folder);
  const database = await openPostgres();
  try {
    await checkStart(folder, database?.env ?? { GRAPH_SERVE_CHECKPOINTER_SCHEME: "memory" });
    if (database) {
      const list = ["--no-install", "graph-serve", "threads", "list", "--db", POSTGRES];
      const env = { ...process.env, ...database.env };
      assert.match(run("npx", list, folder, undefined, env), /hello package/);
      say("runs are stored in PostgreSQL");
    }
  } finally {
    await database?.drop();
  }
}

/** The settings of a new schema, and a function that drops it; undefined without a server. */
async function openPostgres() {
  const client = new pg.Client({ connectionString: POSTGRES, connectionTimeoutMillis: 3000 });
  try {
    await client.connect();
  } catch (error) {
    const isRequired = (process.env.GRAPH_SERVE_REQUIRE_BACKENDS ?? "").split(",").includes("postgres");
    if (isRequired) throw error;
    say(`skipped: the storage in PostgreSQL (${error.message})`);
    return undefined;
  }
  const schema = `check_package_${process.pid}`;
  const env = {
    GRAPH_SERVE_CHECKPOINTER_SCHEME: "postgres",
    GRAPH_SERVE_CHECKPOINTER_URI: POSTGRES,
    GRAPH_SERVE_CHECKPOINTER_OPTIONS: JSON.stringify({ schema }),
    GRAPH_SERVE_QUEUE: "postgres",
    GRAPH_SERVE_STREAM: "postgres",
  };
  const drop = async () => {
    await client.query(`DROP SCHEMA IF EXISTS "${schema}", "${schema}_pgboss" CASCADE`);
    await client.end();
  };
  return { env, drop };
}

/** Lists the tools over stdin and stdout. */
async function checkMcp(folder) {
  const { child, output } = serve(folder, ["mcp", "./graph.ts"], process.env);
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "check", version } };
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  try {
    send({ id: 1, method: "initialize", params });
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/list" });
    const answer = await until("tools/list", child, () => lines(output.stdout).find(({ id }) => id === 2));
    assert.deepEqual(
      answer.result.tools.map(({ name }) => name),
      ["agent", "resume_thread"],
    );
    const exited = once(child, "exit");
    child.stdin.end();
    assert.deepEqual(await exited, [0, null]);
    say("mcp lists the graph as a tool");
  } catch (error) {
    say(output.stderr);
    throw error;
  } finally {
    child.kill("SIGKILL");
  }
}

/** Serves the graphs with the Studio and the Agent2Agent protocol, and blocks the event loop. */
async function checkStart(folder, settings) {
  const port = await freePort();
  const own = {
    GRAPH_SERVE_A2A: "true",
    GRAPH_SERVE_STUDIO: "true",
    GRAPH_SERVE_HEALTH_PORT: "0",
    GRAPH_SERVE_STALL_WARNING_SECONDS: "1",
  };
  const args = ["start", "./graph.ts", "./block.mjs", "-p", String(port)];
  const { child, output } = serve(folder, args, { ...process.env, ...own, ...settings });
  const logged = (what, passes) => until(what, child, () => lines(output.stderr).find(passes));
  try {
    const { url, health } = await logged("listening", ({ msg }) => msg === "listening");
    await talk(url);
    assert.match(await (await fetch(`${url}/studio/`)).text(), /<script/);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    assert.equal(card.supportedInterfaces[0].url, `${url}/a2a/agent`);
    assert.equal((await fetch(health)).status, 200);
    const body = JSON.stringify({ assistant_id: "block", input: {} });
    const blocked = fetch(`${url}/runs/wait`, { method: "POST", body });
    await logged(
      "a stall in block.mjs",
      ({ msg = "", at }) => /is stalled/.test(msg) && at === "block.mjs:5",
    );
    assert.equal((await (await blocked).json()).done, "yes");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
    say("start serves the Studio, an agent card and a health endpoint, and logs a stall");
  } catch (error) {
    say(output.stderr);
    throw error;
  } finally {
    child.kill("SIGKILL");
  }
}

/** Starts the installed command without npx, which does not forward signals. */
function serve(folder, args, env) {
  const bin = join(folder, "node_modules/graph-serve/bin/graph-serve.js");
  const child = spawn(process.execPath, [bin, ...args], { cwd: folder, env, stdio: "pipe" });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].on("data", (data) => (output[name] += data));
  return { child, output };
}

/** The complete lines of an output that are JSON. */
function lines(text) {
  const complete = text.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}"));
  return complete.map((line) => JSON.parse(line));
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

async function ready(url, child) {
  const started = Date.now();
  await until(`an answer of ${url}/ok`, child, () => answers(url));
  say(`ready in ${Date.now() - started} ms`);
}

/** Resolves with what `find` returns once it is truthy. */
async function until(what, child, find) {
  const started = Date.now();
  for (;;) {
    const found = await find();
    if (found) return found;
    assert.equal(child.exitCode, null, `the process exited before ${what}`);
    assert.ok(Date.now() - started < READY_LIMIT_MS, `no ${what} in ${READY_LIMIT_MS} ms`);
    await pause(50);
  }
}

async function answers(url) {
  const response = await fetch(`${url}/ok`).catch(() => undefined);
  return response?.ok === true;
}

/** Streams one run on a new thread, then reads its state and the docs. */
async function talk(url) {
  const post = (path, body) => fetch(url + path, { method: "POST", body: JSON.stringify(body) });
  const { thread_id } = await (await post("/threads", {})).json();
  const input = { messages: [{ role: "user", content: "hello package" }] };
  const body = { assistant_id: "agent", input, stream_mode: "messages-tuple" };
  const frames = await (await post(`/threads/${thread_id}/runs/stream`, body)).text();
  assert.match(frames, /^event: end$/m, frames);
  const state = await (await fetch(`${url}/threads/${thread_id}/state`)).json();
  assert.match(state.values.messages.at(-1).content, /You said: "hello package"/);
  assert.equal((await (await fetch(`${url}/info`)).json()).version, version);
  for (const file of ["", "swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"])
    assert.equal((await fetch(`${url}/docs/${file}`)).status, 200, file);
  const [compressed, plain] = await Promise.all(
    ["br", "identity"].map((encoding) => fetchEncoded(`${url}/docs/swagger-ui-bundle.js`, encoding)),
  );
  assert.match(plain, /SwaggerUIBundle/);
  assert.equal(compressed, plain, "the script of /docs differs by encoding");
}

/** `fetch` decodes the body. */
async function fetchEncoded(url, encoding) {
  const response = await fetch(url, { headers: { "accept-encoding": encoding } });
  assert.equal(response.headers.get("content-encoding") ?? "identity", encoding);
  return response.text();
}
