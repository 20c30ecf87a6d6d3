/** The documentation site: the pages of docs/, grouped as in docs/README.md. Build it with `npm run docs`. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { defineConfig } from "vitepress";
import { docsIndex, ROOT } from "../../scripts/docs-index.mjs";

const { description, repository } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const SOURCE = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");
const DOCS = join(ROOT, "docs");

/** Links to files outside docs/ lead to the repository. @throws if the file does not exist */
function linkOf(href, page) {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path, heading] = href.split("#");
  const file = join(DOCS, dirname(page), path);
  const anchor = heading === undefined ? "" : `#${heading}`;
  const inside = relative(DOCS, file);
  if (!inside.startsWith("..")) return href.replace(/(^|\/)README\.md/, "$1index.md");
  if (!existsSync(file)) throw new Error(`docs/${page}: dead link ${href}`);
  return `${SOURCE}/blob/main/${relative(ROOT, file)}${anchor}`;
}

/** The heading anchors of GitHub, which the links use. */
const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");

/** Removes the markers of tests and generated tables, and rewrites links before VitePress checks them. */
function prepare(markdown) {
  markdown.core.ruler.before("normalize", "markers", (state) => {
    state.src = state.src.replace(/^<!--[^]*?-->$/gm, "");
  });
  markdown.core.ruler.push("repository-links", ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const href = token.type === "link_open" ? token.attrGet("href") : null;
      if (href !== null) token.attrSet("href", linkOf(href, env.relativePath));
    }
  });
}

/** The sidebar entries of the pages that are listed under a page, folded. */
function itemsOf(pages, parent) {
  return pages
    .filter((page) => page.parent === parent)
    .map((page) => {
      const items = itemsOf(pages, page.path);
      const entry = { text: page.title, link: `/${page.path.replace(/\.md$/, "")}` };
      return items.length === 0 ? entry : { ...entry, items, collapsed: true };
    });
}

export default defineConfig({
  title: "graph-serve",
  description,
  srcDir: DOCS,
  outDir: join(ROOT, "dist-docs"),
  cacheDir: join(ROOT, "node_modules/.cache/vitepress"),
  rewrites: { "README.md": "index.md" },
  ignoreDeadLinks: false,
  lastUpdated: false,
  // Text such as <file> is not HTML.
  markdown: { html: false, anchor: { slugify }, config: prepare },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    socialLinks: [{ icon: "github", link: SOURCE }],
    sidebar: docsIndex().map(({ title, pages }) => ({ text: title, items: itemsOf(pages, undefined) })),
  },
});
