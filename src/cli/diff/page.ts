/** Formats a difference as a self-contained HTML page without scripts or requests, in the system's color scheme. */
import { escapeHtml } from "../../view/text.js";
import type { ChangeLine } from "../../view/change-lines.js";

export function diffPage(title: readonly [string, string], lines: readonly ChangeLine[]): string {
  const [before, after] = title.map(escapeHtml);
  const rows = lines.map(
    ({ mark, place, text }) =>
      `<tr class="${CLASSES[mark]}"><td>${mark}</td><td>${escapeHtml(place)}</td><td>${escapeHtml(text)}</td></tr>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${before} and ${after}</title>
<style>${STYLE}</style>
<h1>Differences</h1>
<p class="removed"><span>-</span> ${before}</p>
<p class="added"><span>+</span> ${after}</p>
${rows.length === 0 ? '<p class="quiet">No differences.</p>' : `<table>\n${rows.join("\n")}\n</table>`}
</html>
`;
}

const CLASSES = { "+": "added", "-": "removed", "~": "changed" } as const;

const STYLE = `
:root { color-scheme: light dark; --back: #ffffff; --text: #1c2024; --dim: #5f6873; --line: #d9dce1;
  --added: #17703a; --removed: #b3261e; --changed: #8a5a00; --in: #eef8f1; --out: #fdf0ef; --other: #fdf6e7; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14171a; --text: #e6e8ea; --dim: #9aa4af; --line: #343a42;
    --added: #56c27d; --removed: #ff8379; --changed: #e2b14d; --in: #16251c; --out: #2b1b1b; --other: #28220f; }
}
body { background: var(--back); color: var(--text); font: 14px/1.5 ui-monospace, monospace; margin: 1.5rem auto;
  max-width: 70rem; padding: 0 1rem; }
h1 { font: 600 1.1rem/1.5 system-ui, sans-serif; margin: 0 0 .5rem; }
p { margin: 0; overflow-wrap: anywhere; } .quiet { color: var(--dim); margin-top: 1rem; }
table { border-collapse: collapse; width: 100%; margin-top: 1rem; border: 1px solid var(--line); }
tr { border-top: 1px solid var(--line); }
td { padding: .3rem .6rem; vertical-align: top; overflow-wrap: anywhere; white-space: pre-wrap; }
td:first-child { width: 1ch; font-weight: 600; } td:nth-child(2) { color: var(--dim); width: 16rem; }
.added td:first-child, p.added { color: var(--added); } .removed td:first-child, p.removed { color: var(--removed); }
.changed td:first-child { color: var(--changed); }
tr.added { background: var(--in); } tr.removed { background: var(--out); } tr.changed { background: var(--other); }
@media (max-width: 600px) {
  tr { display: grid; grid-template-columns: 3ch minmax(0, 1fr); } td:nth-child(2) { width: auto; padding-bottom: 0; }
  td:nth-child(3) { grid-column: 2; padding-top: 0; }
}
`;
