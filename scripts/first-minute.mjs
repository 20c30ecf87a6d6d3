// Follows the first screen of README.md as on a new machine: a fresh clone, an empty home directory, no settings in the
// environment. Executes the demo line with --ci, which must install without warnings and build only once, and the test
// line on one file.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const LIMIT_MS = 900_000;
/** What a network needs; nothing else of the environment reaches the commands. */
const NETWORK =
  /^(PATH|https?_proxy|no_proxy|npm_config_(registry|cafile|https?_proxy|nodedir)|NODE_EXTRA_CA_CERTS)$/i;
/** pg-boss asks for Node 22.12; see .npmrc. */
const ENGINE_OF_QUEUE =
  /npm warn EBADENGINE Unsupported engine \{\nnpm warn EBADENGINE +package: 'pg-boss@.*\n(npm warn EBADENGINE .*\n)+/;
/** The older line of LangGraph's SDK that the clients' tests cover, see .npmrc. */
const OLDER_SDK = /npm warn deprecated @langchain\/langgraph-sdk@2\.0\.0: .*\n/;
/** `npm ci` runs "prepare", which runs "build". A second build would follow if `npx` did not find the first. */
const SCRIPTS = ["prepare", "build"];

const scratch = mkdtempSync(join(tmpdir(), "graph-serve-first-minute-"));
try {
  const clone = join(scratch, "graph-serve");
  const home = join(scratch, "home");
  mkdirSync(home);
  const nodedir = run("npm", ["config", "get", "nodedir"])
    .trim()
    .replace(/^(null|undefined)$/, "");
  run("git", ["clone", "--quiet", ROOT, clone], { cwd: scratch, env: process.env });
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name))),
    HOME: home,
    // Where Node.js has its headers is part of the machine: better-sqlite3 is compiled if its binary cannot be downloaded.
    ...(nodedir !== "" && { npm_config_nodedir: nodedir }),
    // .npmrc hides the two warnings that are allowed here.
    npm_config_loglevel: "warn",
  };
  const demo = run("bash", ["-ec", `${line("demo")} --ci`], { cwd: clone, env });
  const warnings =
    demo
      .replace(ENGINE_OF_QUEUE, "")
      .replace(OLDER_SDK, "")
      .match(/^npm (warn|error).*$/gim) ?? [];
  if (warnings.length > 0) throw new Error(`npm printed warnings:\n${warnings.join("\n")}`);
  const scripts = Array.from(demo.matchAll(/^> graph-serve@\S+ (\S+)$/gm), ([, name]) => name);
  if (scripts.join() !== SCRIPTS.join())
    throw new Error(`expected the scripts ${SCRIPTS.join(", ")}, but ran: ${scripts.join(", ")}`);
  // Installed already; to install again would take as long as the demo.
  const test = line("test").replace(/^npm ci && /, "");
  run("bash", ["-ec", `${test} -- test/cli/demo.test.ts`], { cwd: clone, env });
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
}

function line(name) {
  return run(process.execPath, [join(ROOT, "scripts/readme-line.mjs"), name]).trim();
}

/** Returns what the command prints on both streams, which are also shown here. */
function run(command, args, options = {}) {
  const done = spawnSync(command, args, {
    ...{ encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: LIMIT_MS, maxBuffer: 2 ** 26 },
    ...options,
  });
  if (done.error) throw done.error;
  const output = done.stdout + done.stderr;
  if (options.cwd !== undefined) process.stdout.write(output);
  if (done.status !== 0) throw new Error(`${[command, ...args].join(" ")} exited with code ${done.status}`);
  return output;
}
