/** Parses README.md and the documents in docs/. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** All user documentation, by path from the repository root. */
export const DOCUMENTS: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name.replaceAll("\\", "/")}`)
    .sort(),
];

/** A fenced block with a marker in front: `<!-- run:name -->`, `<!-- serve:name -->`, `<!-- file:name -->`. */
export interface Block {
  kind: string;
  name: string;
  language: string;
  text: string;
  /** The expected output: the following block with the marker `<!-- output -->`. */
  output?: Pick<Block, "language" | "text">;
}

const FENCED = /<!-- ([a-z]+)(?::([\w./-]+))? -->\n+```(\w+)\n([^]*?)```\n/g;

/** The marked blocks of a document, in order. */
export function markedBlocks(document: string): Block[] {
  const blocks: Block[] = [];
  for (const [, kind = "", name = "", language = "", text = ""] of read(document).matchAll(FENCED)) {
    if (kind !== "output") blocks.push({ kind, name, language, text });
    else Object.assign(blocks.at(-1) ?? {}, { output: { language, text } });
  }
  return blocks;
}

/** Links of a document to files of the repository and their headings. */
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

/** Paths in inline code that name files of the repository, such as `src/runs/execute.ts`. */
export function namedPaths(document: string): string[] {
  const named = read(document).matchAll(
    /(?<![\w./-])((?:src|test|templates|bench|scripts|docs|bin)\/[\w./-]*\w\/?)/g,
  );
  return [...new Set(Array.from(named, ([, path = ""]) => path))];
}

/** The heading anchors of a document. */
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
