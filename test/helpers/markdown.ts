/** README.md and the documents beside it, taken apart. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** Every document for readers, by its path from the root. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => `docs/${name}`),
];

/** A fenced block with the mark before it: `<!-- run:name -->`, `<!-- serve:name -->`, `<!-- file:name -->`. */
export interface Block {
  kind: string;
  name: string;
  language: string;
  text: string;
  /** The block after it that is marked `<!-- output -->`: what it prints. */
  output?: Pick<Block, "language" | "text">;
}

const FENCED = /<!-- ([a-z]+)(?::([\w.-]+))? -->\n+```(\w+)\n([^]*?)```\n/g;

/** The marked blocks of a document, in order. */
export function markedBlocks(document: string): Block[] {
  const blocks: Block[] = [];
  for (const [, kind = "", name = "", language = "", text = ""] of read(document).matchAll(FENCED)) {
    if (kind !== "output") blocks.push({ kind, name, language, text });
    else Object.assign(blocks.at(-1) ?? {}, { output: { language, text } });
  }
  return blocks;
}

/** Links of a document to files of the repository, and the headings they lead to. */
export function relativeLinks(document: string): { path: string; heading?: string }[] {
  const targets = Array.from(
    withoutFences(document).matchAll(/\]\(([^)\s]+)\)/g),
    ([, target = ""]) => target,
  );
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", heading] = target.split("#");
      return heading === undefined ? { path } : { path, heading };
    });
}

/** Paths of the repository that a document names in code, such as `src/ops/execute.ts`. */
export function namedPaths(document: string): string[] {
  const named = read(document).matchAll(
    /(?<![\w./-])((?:src|test|templates|bench|scripts|docs|bin)\/[\w./-]*\w\/?)/g,
  );
  return [...new Set(Array.from(named, ([, path = ""]) => path))];
}

/** The anchors of a document's headings. */
export function anchors(document: string): string[] {
  return Array.from(withoutFences(document).matchAll(/^#+ (.+)$/gm), ([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .trim()
      .replace(/\s/g, "-"),
  );
}

const read = (document: string) => readFileSync(join(ROOT, document), "utf8");
const withoutFences = (document: string) => read(document).replace(/^```[^]*?^```$/gm, "");
