/** Reads the groups of docs/README.md: the sidebar of the site, and llms.txt. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..");

/**
 * The groups of the index in order, each with its pages. A page has its title, its path below docs/, its description,
 * and the path of the page under which it is listed, if any.
 *
 * @returns {{ title: string, pages: { title: string, path: string, description: string, parent?: string }[] }[]}
 */
export function docsIndex() {
  const text = readFileSync(join(ROOT, "docs/README.md"), "utf8");
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const [title, ...lines] = section.split("\n");
      let parent;
      const pages = lines.flatMap((line) => {
        if (line.startsWith("  - ")) return pagesOf(line.trim()).map((page) => ({ ...page, parent }));
        const own = pagesOf(line);
        parent = own.at(-1)?.path ?? parent;
        return own;
      });
      return { title, pages };
    });
}

/** One line can describe several pages: `- [Title](path.md): description. [Title](path.md): description.` */
function pagesOf(line) {
  if (!line.startsWith("- ")) return [];
  return Array.from(line.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)(?:: (.*?)(?=\. \[|\.?$))?/g), (match) => {
    const [, title, path, description = ""] = match;
    return { title, path, description };
  });
}
