/** LangGraph's own development server, installed into a temporary folder, with the measured graphs. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GraphName } from "./graphs.js";
import { freePort } from "../test/helpers/free-port.js";
import { ProcessGroup } from "./process-group.js";

const PACKAGES = [
  "@langchain/langgraph-cli@1.5.1",
  "@langchain/langgraph@1.7.3",
  "@langchain/core@1.4.0",
  "@langchain/langgraph-sdk@1.15.0",
];
const INSTALL_MS = 300_000;

/**
 * Installs the server into `folder`, which is created, and starts it. Requires the npm registry.
 * @throws Error if it cannot be installed, or does not answer
 */
export async function startPeer(
  folder: string,
  graphs: readonly GraphName[],
): Promise<{ url: string; group: ProcessGroup }> {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{"type":"module","private":true}');
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--save-exact", ...PACKAGES], {
    ...{ cwd: folder, stdio: ["ignore", "ignore", "inherit"], timeout: INSTALL_MS },
  });
  writeFileSync(join(folder, "graphs.ts"), graphsModule(graphs));
  const paths = Object.fromEntries(graphs.map((name) => [name, `./graphs.ts:${name}`]));
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify({ dependencies: ["."], graphs: paths }));
  const port = String(await freePort());
  const command = [join(folder, "node_modules/.bin/langgraphjs"), "dev", "--no-browser"];
  const group = new ProcessGroup([...command, "--host", "127.0.0.1", "--port", port], folder, {
    LANGSMITH_TRACING: "false",
  });
  const url = `http://127.0.0.1:${port}`;
  await group.ready(`${url}/ok`);
  return { url, group };
}

/** The module of the measured graphs, without its imports from this repository. */
function graphsModule(graphs: readonly GraphName[]): string {
  const source = readFileSync(join(import.meta.dirname, "graphs.ts"), "utf8")
    .replace(
      /^import type .* from "\.\.\/src\/.*";$/m,
      "type GraphConfig = object; type ServedGraph = object;",
    )
    .replace(/^import .* from "\.\/rpc\.js";$/m, "const sharedClock = () => 0;");
  return `${source}\nexport const { ${graphs.join(", ")} } = compileGraphs();\n`;
}
