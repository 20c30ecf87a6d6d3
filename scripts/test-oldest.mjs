// Serves a graph on the oldest supported line of LangGraph, pinned in test/oldest, from a project with no
// other copy of it, and runs the SDK of that line against it. Also checks that npm installs the package next
// to exact pins of older lines.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { packageWith } from "../test/helpers/installed.ts";
import { bundle } from "./bundle.mjs";

const ROOT = join(import.meta.dirname, "..");
const OLDEST = join(ROOT, "test/oldest");
const FLAGS = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];
const INSTALL_LIMIT_MS = 300_000;
const TEST_LIMIT_MS = 120_000;
const READY_LIMIT_MS = 60_000;

const manifest = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { dependencies: oldest } = manifest(OLDEST);
const PINS = [oldest, { "@langchain/core": "1.1.49", "@langchain/langgraph": "1.0.15" }];

const scratch = mkdtempSync(join(tmpdir(), "graph-serve-oldest-"));
try {
  checkPins();
  process.exitCode = await test(await install());
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

/** `npm install` with exact pins resolves to these versions, with one copy of each package. */
function checkPins() {
  // The manifest is all that npm needs to resolve the versions.
  const packed = join(scratch, "manifest");
  mkdirSync(packed);
  cpSync(join(ROOT, "package.json"), join(packed, "package.json"));
  run("npm", ["pack", "--ignore-scripts", "--pack-destination", scratch], packed);
  const tarball = readdirSync(scratch).find((name) => name.endsWith(".tgz"));
  for (const [index, pins] of PINS.entries()) {
    const folder = join(scratch, `pins-${index}`);
    mkdirSync(folder);
    const dependencies = { ...pins, "graph-serve": `file:../${tarball}` };
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, dependencies }));
    run("npm", ["install", "--package-lock-only", "--omit=optional", ...FLAGS], folder);
    const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
    for (const [name, version] of Object.entries(pins)) {
      const copies = Object.entries(packages).filter(([path]) => path.endsWith(`node_modules/${name}`));
      if (copies.length !== 1 || copies[0][1].version !== version)
        throw new Error(`${name} ${version} became ${JSON.stringify(copies)}`);
    }
    process.stdout.write(`npm installs the package next to ${JSON.stringify(pins)}\n`);
  }
}

/** A project with the oldest line and the package; all other packages come from this checkout. */
async function install() {
  const project = join(scratch, "project");
  cpSync(OLDEST, project, { recursive: true });
  run("npm", ["ci", ...FLAGS], project);
  const packages = join(project, "node_modules");
  const own = join(packages, "graph-serve");
  renameSync(await packageWith(bundle), own);
  const others = join(own, "node_modules");
  rmSync(others);
  mkdirSync(others);
  const modules = join(ROOT, "node_modules");
  for (const name of readdirSync(modules))
    if (!name.startsWith(".") && name !== "@langchain") symlinkSync(join(modules, name), join(others, name));
  return project;
}

async function test(project) {
  for (const [name, wanted] of Object.entries(oldest)) {
    const { version } = manifest(join(project, "node_modules", name));
    if (version !== wanted) throw new Error(`${name} is ${version}, not ${wanted}`);
    process.stdout.write(`${name} ${version}\n`);
  }
  const port = await freePort();
  const cli = join(project, "node_modules/graph-serve/bin/graph-serve.js");
  const storage = { checkpointer_scheme: "sqlite", checkpointer_uri: "store.sqlite" };
  const config = { graphs: { agent: "./graph.mjs" }, ...storage };
  writeFileSync(join(project, "graph-server.config.json"), JSON.stringify(config));
  const args = [cli, "start", "-p", String(port), "--log-level", "error"];
  const server = spawn("node", args, { cwd: project, stdio: "inherit" });
  const exited = once(server, "exit");
  try {
    const url = `http://127.0.0.1:${port}`;
    await ready(url, server);
    // CLI commands call servers through the SDK of the project.
    run("node", [cli, "run", "agent", "--url", url, "--message", "hi", "--json"], project);
    run("node", [cli, "threads", "list", "--url", url, "--json"], project);
    const env = { ...process.env, SERVER_URL: url };
    const options = { cwd: project, env, timeout: TEST_LIMIT_MS, stdio: "inherit" };
    return spawnSync("node", ["--test", "flows.mjs"], options).status ?? 1;
  } finally {
    if (server.exitCode === null) server.kill("SIGTERM");
    await exited;
  }
}

function run(command, args, cwd) {
  const { status } = spawnSync(command, args, { cwd, timeout: INSTALL_LIMIT_MS, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} exited with ${status}`);
}

async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  probe.close();
  await once(probe, "close");
  return port;
}

async function ready(url, server) {
  const started = Date.now();
  while (!(await fetch(`${url}/ok`).catch(() => undefined))?.ok) {
    if (server.exitCode !== null) throw new Error("the server exited before it was ready");
    if (Date.now() - started > READY_LIMIT_MS) throw new Error(`${url}/ok did not answer`);
    await pause(50);
  }
}
