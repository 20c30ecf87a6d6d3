// Makes `npx graph-serve` work in subfolders of a clone: npm searches the root's node_modules/.bin, where no
// package is linked to itself.
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
  // Windows requires a permission that few users have; `npx graph-serve` in the root works without it.
  process.stderr.write(`could not link graph-serve for subfolders of the clone: ${error.message}\n`);
}
