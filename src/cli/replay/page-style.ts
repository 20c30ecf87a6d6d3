/** The style of the page: light and dark by the reader's system, narrow and wide. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --soft: #f5f6f8; --line: #d9dce1; --text: #1c2024; --dim: #5f6873;
  --accent: #0b62c4; --chosen: #e3effd; --good: #17703a; --bad: #b3261e; --warn: #8a5a00;
  --human: #e3effd; --ai: #f1f2f4; --tool: #fdf3dc; --system: #efe9fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #14171a; --soft: #1c2024; --line: #343a42; --text: #e6e8ea; --dim: #9aa4af;
    --accent: #6cb0ff; --chosen: #1d3350; --good: #56c27d; --bad: #ff8379; --warn: #e2b14d;
    --human: #1d3350; --ai: #23282e; --tool: #3a2f16; --system: #2e2744;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
header { padding: 12px 16px; border-bottom: 1px solid var(--line); }
h1 { font-size: 16px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0 0 4px; overflow-wrap: anywhere; white-space: pre-wrap; }
h3 { font-size: 13px; margin: 0 0 6px; color: var(--dim); font-weight: 600; overflow-wrap: anywhere; }
#facts { margin: 2px 0 0; color: var(--dim); font-size: 13px; overflow-wrap: anywhere; }
main { display: grid; grid-template-columns: minmax(200px, 300px) minmax(0, 1fr); align-items: start; }
nav { position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 8px; }
ol, ul { list-style: none; margin: 0; padding: 0; }
button { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: 6px;
  padding: 4px 10px; cursor: pointer; min-height: 32px; }
button:hover:not(:disabled) { border-color: var(--accent); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button:disabled { opacity: .4; cursor: default; }
#timeline button { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; width: 100%; text-align: left;
  border-color: transparent; background: none; }
#timeline li { content-visibility: auto; contain-intrinsic-size: auto 33px; }
#timeline button[aria-current] { background: var(--chosen); border-color: var(--accent); }
.dot { width: 9px; height: 9px; border-radius: 50%; background: var(--accent); flex: none; }
.lane1 .dot { background: #c2571a; } .lane2 .dot { background: #7a4fc9; } .lane3 .dot { background: #17876d; }
.lane4 .dot { background: #b0307a; } .lane5 .dot { background: #7d7a10; }
#timeline .lane1 { padding-left: 24px; } #timeline .lane2 { padding-left: 38px; } #timeline .lane3 { padding-left: 52px; }
#timeline .lane4 { padding-left: 66px; } #timeline .lane5 { padding-left: 80px; }
.number { color: var(--dim); font-variant-numeric: tabular-nums; min-width: 1.5em; text-align: right; }
.name { overflow-wrap: anywhere; min-width: 0; }
.badge { font-size: 12px; border: 1px solid var(--line); border-radius: 9px; padding: 0 7px; color: var(--dim); }
.waits { color: var(--warn); } .failed { color: var(--bad); }
.badge.waits { border-color: var(--warn); } .badge.failed { border-color: var(--bad); }
#panel { padding: 12px 16px 32px; min-width: 0; border-left: 1px solid var(--line); min-height: calc(100vh - 72px); }
#controls { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; position: sticky; top: 0; padding: 4px 0 8px;
  background: var(--back); }
#place { color: var(--dim); font-size: 13px; margin-left: 4px; }
.facts { display: flex; flex-wrap: wrap; gap: 2px 14px; color: var(--dim); font-size: 13px; margin-bottom: 10px; }
.facts li, p { overflow-wrap: anywhere; margin: 4px 0; }
.quiet { color: var(--dim); }
.block { margin: 14px 0; }
.changes { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
.change { display: grid; grid-template-columns: 16px minmax(60px, 200px) minmax(0, 1fr); gap: 8px; padding: 4px 10px;
  font: 13px/1.5 ui-monospace, monospace; border-top: 1px solid var(--line); }
.change:first-child { border-top: 0; }
.change span { overflow-wrap: anywhere; white-space: pre-wrap; }
.added .mark { color: var(--good); } .removed .mark { color: var(--bad); } .changed .mark { color: var(--warn); }
.where { color: var(--dim); }
.message { border-radius: 8px; padding: 6px 10px; margin: 6px 0; max-width: 46rem; background: var(--ai); opacity: .85;
  border-left: 3px solid transparent; }
.message.new { opacity: 1; border-left-color: var(--accent); }
.message.human { background: var(--human); } .message.tool { background: var(--tool); }
.message.system { background: var(--system); }
.who { font-size: 12px; color: var(--dim); }
.text, .call { white-space: pre-wrap; overflow-wrap: anywhere; }
.call { font: 13px/1.5 ui-monospace, monospace; }
details { margin-top: 14px; } summary { cursor: pointer; color: var(--dim); min-height: 28px; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: 10px; overflow: auto;
  font: 12.5px/1.5 ui-monospace, monospace; max-height: 60vh; }
@media (max-width: 700px) {
  main { grid-template-columns: minmax(0, 1fr); }
  nav { position: static; max-height: 34vh; border-bottom: 1px solid var(--line); }
  #panel { border-left: 0; }
  .change { grid-template-columns: 14px minmax(0, 1fr); }
  .change .what { grid-column: 2; }
  button { min-height: 40px; }
}
`;
