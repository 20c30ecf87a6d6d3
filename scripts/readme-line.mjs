// Prints the command line of README.md with a name: `node scripts/readme-line.mjs demo`. `.ci/run` executes it.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [name] = process.argv.slice(2);
const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const lines = new Map(
  Array.from(readme.matchAll(/<!-- line:(\w+) -->\n+```sh\n([^\n]+)\n```/g), ([, key, line]) => [key, line]),
);
if (!lines.has(name))
  throw new Error(`README.md has no line ${name}; it has: ${[...lines.keys()].join(", ")}`);
process.stdout.write(`${lines.get(name)}\n`);
