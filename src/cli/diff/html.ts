/** A difference as one page that needs nothing else: no script, no request, dark where the reader's system is. */
import { escapeControl } from "../escape.js";
import type { ChangeLine } from "./lines.js";

export function diffPage(title: readonly [string, string], lines: readonly ChangeLine[]): string {
  const [before, after] = title.map(escaped);
  const rows = lines.map(
    ({ mark, place, text }) =>
      `<tr class="${CLASSES[mark]}"><td>${mark}</td><td>${escaped(place)}</td><td>${escaped(text)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${before} and ${after}</title>
<style>${STYLE}</style>
<h1>${before} <span>and</span> ${after}</h1>
${rows.length === 0 ? "<p>They are equal.</p>" : `<table>\n${rows.join("\n")}\n</table>`}
</html>
`;
}

const CLASSES = { "+": "added", "-": "removed", "~": "changed" } as const;

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string =>
  escapeControl(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char);

const STYLE = `
:root { color-scheme: light dark; --added: #1a7f37; --removed: #cf222e; --changed: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --added: #3fb950; --removed: #f85149; --changed: #d29922; } }
body { font: 14px/1.5 ui-monospace, monospace; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1rem; overflow-wrap: anywhere; }
h1 span { font-weight: normal; opacity: .6; }
table { border-collapse: collapse; width: 100%; }
td { padding: .2rem .6rem .2rem 0; vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
td:nth-child(2) { min-width: 6rem; }
.added td { color: var(--added); } .removed td { color: var(--removed); } .changed td { color: var(--changed); }
`;
