/**
 * Counts the functions and source files that three operations execute, using V8 coverage.
 * test/files-crossed.test.ts enforces the limits on functions.
 *
 *   node --import tsx scripts/files-crossed.mjs [stream|shared|inspect] [--names|--json]
 *
 * `--names` prints the line of each function instead of the number per file.
 * `stream` is one POST /threads/{id}/runs/stream on memory, without the periodic work of the service.
 * `shared` is the same on PostgreSQL with the queue and frames shared by Redis.
 * `inspect` is `graph-serve inspect thread ID` on SQLite in a separate process. The first call of each is not counted,
 * because it also loads modules.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { findSourceMap } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";

/** Maximum number of functions per operation. Lower a limit when fewer are executed; raising one needs a reason. */
const MOST = { stream: 250, shared: 320, inspect: 447 };
/** Measured runs of a stream. */
const RUNS = 3;
const POSTGRES = process.env.GRAPH_SERVE_TEST_POSTGRES_URI ?? "postgres://postgres@127.0.0.1:5432/test";
const REDIS = process.env.GRAPH_SERVE_TEST_REDIS_URI ?? "redis://127.0.0.1:6379";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SELF = fileURLToPath(import.meta.url);
const GRAPH = join(ROOT, "test/fixtures/graphs/steps.ts");
const QUIET = { write: () => true, isTTY: false };

// V8 counts the calls of functions that are compiled while coverage is on, and forgets those whose bytecode it frees.
setFlagsFromString("--no-flush-bytecode");
const profiler = new Session();
profiler.connect();
await profiler.post("Profiler.enable");
await profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

/** The functions of src that `work` called, as `file:line function`, in their order. */
async function crossedBy(work) {
  await profiler.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await profiler.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url }) => url.startsWith("file:"))
    .map(({ url, functions }) => ({ file: relative(ROOT, fileURLToPath(url.split("?")[0])), functions }))
    .filter(({ file }) => file.startsWith("src/"))
    .sort((a, b) => (a.file < b.file ? -1 : 1))
    .flatMap(({ file, functions }) =>
      functions.filter(isCalled).map((one) => `${file}:${placeOf(file, one)}`),
    );
}

/** Functions called on load: the helper that tsx adds to each file, and static initializers of classes. */
const LOADING = ["__name", "<static_initializer>"];

/** The module itself is an unnamed function that begins at 0. */
function isCalled({ functionName, ranges: [range] }) {
  const isModule = functionName === "" && range.startOffset === 0;
  return range.count > 0 && !isModule && !LOADING.includes(functionName);
}

/** tsx writes each file in one line, so an offset is a column. */
function placeOf(file, { functionName, ranges: [{ startOffset }] }) {
  const entry = findSourceMap(join(ROOT, file))?.findEntry(0, startOffset);
  return `${(entry?.originalLine ?? -1) + 1} ${functionName || "anonymous"}`;
}

const fileOf = (place) => place.slice(0, place.indexOf(":"));

async function stream(options = {}) {
  const { openService } = await import("../src/service/open.ts");
  const { startServer } = await import("../src/http/server.ts");
  const service = await openService({ graphs: { agent: GRAPH }, mode: "edit", ...options });
  const server = await startServer(service, { host: "127.0.0.1", port: 0 });
  const post = (path, body) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const newThread = async () => (await (await post("/threads", {})).json()).thread_id;
  const run = async (thread) => {
    const body = { assistant_id: "agent", input: {}, stream_mode: ["values"] };
    const text = await (await post(`/threads/${thread}/runs/stream`, body)).text();
    if (!/^event: end$/m.test(text)) throw new Error(`the run did not succeed:\n${text}`);
  };
  try {
    await run(await newThread());
    // The service's periodic work may fall into a run, so the run with the fewest functions counts.
    let fewest;
    for (let count = 0; count < RUNS; count += 1) {
      const thread = await newThread();
      const crossed = await crossedBy(() => run(thread));
      if (!fewest || crossed.length < fewest.length) fewest = crossed;
    }
    return fewest;
  } finally {
    await server.close(0);
    await service.close(0);
  }
}

async function shared() {
  const { default: pg } = await import("pg");
  const schema = `files_crossed_${process.pid}`;
  const settings = {
    checkpointer_scheme: "postgres",
    checkpointer_uri: POSTGRES,
    checkpointer_options: { schema },
    queue: "postgres",
    stream: "redis",
    stream_uri: REDIS,
  };
  try {
    return await stream({ settings, mode: "serve" });
  } finally {
    const client = new pg.Client(POSTGRES);
    await client.connect();
    await client.query(`DROP SCHEMA IF EXISTS "${schema}", "${schema}_pgboss" CASCADE`);
    await client.end();
  }
}

/** Stores a thread and inspects it in a new process. */
async function inspect() {
  const folder = mkdtempSync(join(tmpdir(), "files-crossed-"));
  try {
    const thread = await storeThread(folder);
    const args = ["--import", "tsx", SELF, "inspect-child", folder, thread];
    return JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function storeThread(folder) {
  // The folder that runs a graph remembers its file; from another folder only stored data is available.
  const project = mkdtempSync(join(folder, "project-"));
  let text = "";
  const stdout = { isTTY: false, write: (chunk) => ((text += chunk), true) };
  const code = await cli(
    ["run", GRAPH, "--input", "{}", "--json", "--db", join(folder, "threads.db")],
    project,
    stdout,
  );
  if (code !== 0) throw new Error(`the run exited with code ${code}: ${text}`);
  return JSON.parse(text).thread_id;
}

async function cli(argv, cwd, stdout = QUIET) {
  const { main } = await import("../src/cli/main.ts");
  return main(argv, { stdout, stderr: QUIET, stdin: process.stdin, env: {}, cwd });
}

async function inspectChild(folder, thread) {
  const look = async () => {
    const code = await cli(["inspect", "thread", thread, "--db", join(folder, "threads.db")], folder);
    if (code !== 0) throw new Error(`inspect exited with code ${code}`);
  };
  await look();
  return crossedBy(look);
}

const WALKS = { stream, shared, inspect };
const [name, ...rest] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
if (name === "inspect-child") {
  process.stdout.write(JSON.stringify(await inspectChild(...rest)));
} else {
  const crossed = {};
  for (const walk of name === undefined ? Object.keys(WALKS) : [name])
    crossed[walk] = { most: MOST[walk], functions: await WALKS[walk]() };
  if (process.argv.includes("--json")) process.stdout.write(JSON.stringify(crossed));
  else for (const [walk, { most, functions }] of Object.entries(crossed)) print(walk, most, functions);
}

function groupBy(items, keyOf) {
  const groups = {};
  for (const item of items) (groups[keyOf(item)] ??= []).push(item);
  return groups;
}

function print(walk, most, functions) {
  const files = Object.entries(groupBy(functions, fileOf));
  const lines = process.argv.includes("--names")
    ? functions.map((place) => `  ${place}\n`)
    : files.map(([file, own]) => `  ${String(own.length).padStart(3)} ${file}\n`);
  process.stdout.write(
    `${walk}: ${functions.length} functions, limit ${most}, in ${files.length} files\n${lines.join("")}`,
  );
}
