// `npx graph-serve` in the folders of a clone: npm goes up to the root's node_modules/.bin, where no package has itself.
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const folder = join(ROOT, "node_modules", ".bin");
const link = join(folder, "graph-serve");

try {
  mkdirSync(folder, { recursive: true });
  rmSync(link, { force: true });
  symlinkSync(join("..", "..", "bin", "graph-serve.js"), link);
} catch (error) {
  // Windows wants a right for it that few have; the root's own `npx graph-serve` works without.
  process.stderr.write(`graph-serve is not linked for folders of the clone: ${error.message}\n`);
}
