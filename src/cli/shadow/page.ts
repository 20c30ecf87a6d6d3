/** A page with the results of repeated runs: one file without scripts, assets or requests. */
import { escapeHtml } from "../../view/text.js";
import { differenceText, isDifferent, type JudgedResult } from "./report.js";

const STYLE = `body{font:14px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color-scheme:light dark}
table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #8884}
code{font-size:.9em;overflow-wrap:anywhere}summary{cursor:pointer;margin:1rem 0 .3rem}`;

/** @param summary the counts in words */
export function shadowPage(summary: string, results: readonly JudgedResult[]): string {
  const outcomes = new Map<string, JudgedResult[]>();
  for (const one of results) {
    const outcome = one.accepted ? "accepted" : one.outcome;
    const own = outcomes.get(outcome) ?? [];
    own.push(one);
    outcomes.set(outcome, own);
  }
  const sections = [...outcomes].sort(([, [a]], [, [b]]) => rank(b) - rank(a)).map(section);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Shadow runs</title>
<style>${STYLE}</style>
</head>
<body>
<h1>Shadow runs</h1>
<p>${escapeHtml(summary)}</p>
${sections.join("\n")}
</body>
</html>
`;
}

/** Differences first. */
const rank = (one: JudgedResult | undefined): number => (one && isDifferent(one) ? 1 : 0);

function section([outcome, results]: [string, JudgedResult[]]): string {
  const rows = results.map(
    (one) =>
      `<tr><td>${escapeHtml(one.graph_id ?? "")}</td><td><code>${escapeHtml(one.thread_id)}</code></td><td><code>${escapeHtml(one.run_ids.join(" "))}</code></td><td>${escapeHtml([one.stored_status, one.status].filter(Boolean).join(" → "))}</td><td>${escapeHtml(differenceText(one))}</td></tr>`,
  );
  return `<details${rank(results[0]) > 0 ? " open" : ""}><summary><b>${escapeHtml(outcome)}</b> ${results.length}</summary>
<table><thead><tr><th>Graph</th><th>Thread</th><th>Runs</th><th>Status</th><th>Difference</th></tr></thead>
<tbody>${rows.join("\n")}</tbody></table></details>`;
}
