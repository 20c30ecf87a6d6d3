/**
 * Builds the documentation site into dist-docs: the pages, a local search index, the Markdown files themselves,
 * and llms.txt and llms-full.txt for language models. Fails on dead links.
 */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { build } from "vitepress";
import { docsIndex, ROOT } from "./docs-index.mjs";

const OUT = join(ROOT, "dist-docs");

await build(join(ROOT, "site"));

const { description } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const groups = docsIndex();
const head = `# graph-serve\n\n> ${description}\n`;

/** Markdown without the markers of tests and generated tables. */
const markdownOf = (path) =>
  readFileSync(join(ROOT, "docs", path), "utf8").replace(/^<!--[^]*?-->\n\n?/gm, "");

for (const { path } of groups.flatMap(({ pages }) => pages)) {
  const file = join(OUT, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, markdownOf(path));
}
for (const name of ["studio.png", "terminal.svg", "pictures"])
  cpSync(join(ROOT, "docs", name), join(OUT, name), { recursive: true });

const links = groups.map(({ title, pages }) => {
  const lines = pages.map(
    (page) => `- [${page.title}](${page.path})${page.description === "" ? "" : `: ${page.description}`}`,
  );
  return `## ${title}\n\n${lines.join("\n")}\n`;
});
writeFileSync(join(OUT, "llms.txt"), [head, ...links].join("\n"));

const pages = groups.flatMap((group) => group.pages);
writeFileSync(
  join(OUT, "llms-full.txt"),
  [head, ...pages.map(({ path }) => `<!-- docs/${path} -->\n\n${markdownOf(path)}`)].join("\n"),
);
process.stdout.write(`wrote ${pages.length} pages, llms.txt and llms-full.txt to dist-docs\n`);
