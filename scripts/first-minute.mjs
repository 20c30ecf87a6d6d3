// Executes command lines in this clone as on a new machine: an empty home directory, no settings in the environment. The
// first one must install without warnings and build only once: `.ci/run` passes the demo line of README.md, and its test
// line for one file.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
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

const [install, ...others] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "graph-serve-first-minute-"));
try {
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => NETWORK.test(name))),
    HOME: home,
    ...machine(),
    // .npmrc hides the two warnings that are allowed here.
    npm_config_loglevel: "warn",
  };
  check(run("bash", ["-euc", install], env));
  for (const line of others) run("bash", ["-euc", line], env);
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Where npm has its cache and Node.js its headers: better-sqlite3 is compiled if its binary cannot be downloaded. */
function machine() {
  const [cache, nodedir] = ["cache", "nodedir"].map((name) =>
    execFileSync("npm", ["config", "get", name], { encoding: "utf8" }).trim(),
  );
  const isKnown = !["", "null", "undefined"].includes(nodedir);
  return { npm_config_cache: cache, ...(isKnown && { npm_config_nodedir: nodedir }) };
}

/** @throws for a warning of npm, or other scripts */
function check(printed) {
  const shown = printed.replace(ENGINE_OF_QUEUE, "").replace(OLDER_SDK, "");
  const warnings = shown.match(/^npm (warn|error).*$/gim) ?? [];
  if (warnings.length > 0) throw new Error(`npm printed warnings:\n${warnings.join("\n")}`);
  const scripts = Array.from(printed.matchAll(/^> graph-serve@\S+ (\S+)$/gm), ([, name]) => name);
  if (scripts.join() !== SCRIPTS.join())
    throw new Error(`expected the scripts ${SCRIPTS.join(", ")}, but ran: ${scripts.join(", ")}`);
}

/** Returns what the command prints on both streams, which are also shown here. */
function run(command, args, env) {
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd: ROOT, env, encoding: "utf8", timeout: LIMIT_MS, maxBuffer: 2 ** 26 },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (error) throw error;
  const output = stdout + stderr;
  process.stdout.write(output);
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")} exited with code ${status}`);
  return output;
}
