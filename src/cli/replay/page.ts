/** The replay page: one self-contained file without network requests; data is always inserted as text. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { Thread } from "../../models/thread.js";
import { packageFile } from "../../support/own-package.js";
import type { Redact } from "../../testing/cases/redact.js";
import type { PageHead, PageStep } from "../../view/replay-data.js";
import { escapeControl, escapeHtml } from "../../view/text.js";
import type { HistoryStep } from "./steps.js";

/** A file of dist/ in a form that cannot close its HTML element. */
const asset = (path: string): string =>
  readFileSync(packageFile("dist", path), "utf8")
    .trim()
    .replaceAll(/<(?=\/(?:script|style)|!--)/gi, "\\x3c");

/** The style sheet of the Studio has a hash in its name. */
function studioStyle(): string {
  const name = readdirSync(packageFile("dist/studio/assets")).find((file) => file.endsWith(".css"));
  if (name === undefined) throw new Error("dist/studio has no style sheet: run npm run build");
  return asset(`studio/assets/${name}`);
}

/** Generates the page of a thread in chunks while the steps are read; applies `redact` to all data. */
export async function* replayPage(
  { thread, place }: { thread: Thread; place: string },
  steps: AsyncIterable<HistoryStep>,
  redact: Redact,
): AsyncGenerator<string> {
  yield* pageParts(redact(pageHead(thread, place)), redacted(pageSteps(steps), redact));
}

async function* redacted(steps: AsyncIterable<PageStep>, redact: Redact): AsyncGenerator<PageStep> {
  for await (const step of steps) yield redact(step);
}

async function* pageParts(head: PageHead, steps: AsyncGenerator<PageStep>): AsyncGenerator<string> {
  // Read the first step before writing the head, so that errors are reported instead of a partial page.
  const first = await steps.next();
  const [script, style] = [asset("pages/studio.js"), studioStyle()];
  yield before(head.thread.thread_id, script, style);
  yield `${inScript(head).slice(0, -1)},"steps":[`;
  if (!first.done) yield inScript(first.value);
  for await (const step of steps) yield `,\n${inScript(step)}`;
  yield `]}${after(script)}`;
}

function before(threadId: string, script: string, style: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>Thread ${escapeHtml(threadId)}</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript><p>This page needs JavaScript to show the steps. It does not load anything from the network.</p></noscript>
<script type="application/json" id="data">`;
}

const after = (script: string) => `</script>
<script>${script}</script>
</body>
</html>
`;

/** Content security policy: allows only this script and style, and no requests. */
function policy(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** JSON escaped so that it cannot close its script element. */
function inScript(data: object): string {
  return escapeControl(JSON.stringify(data)).replace(
    /[<>&]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function pageHead(thread: Thread, place: string): PageHead {
  const { thread_id, status, error, created_at, updated_at, state_updated_at } = thread;
  const { graph_id } = thread.metadata;
  return {
    thread: { thread_id, status, error, created_at, updated_at, state_updated_at },
    graph_id: typeof graph_id === "string" ? graph_id : null,
    place,
  };
}

/** The steps as the page stores them; keeps only the ids of previous steps in memory. */
async function* pageSteps(steps: AsyncIterable<HistoryStep>): AsyncGenerator<PageStep> {
  const known = new Set<string>();
  for await (const step of steps) {
    yield stepOf(step, known);
    known.add(step.entry.id);
  }
}

function stepOf({ state, entry, changes, before }: HistoryStep, known: ReadonlySet<string>): PageStep {
  const { id, parent, step, source, runId, created_at, next } = entry;
  const isFirst = parent === undefined || !known.has(parent);
  return {
    id,
    parent: parent ?? null,
    step: step ?? null,
    source,
    run_id: runId ?? null,
    created_at,
    next,
    // The page does not include the state of subgraphs.
    tasks: state.tasks.map((task) => ({ ...task, state: null, checkpoint: null })),
    interrupts: state.interrupts,
    changes,
    ...(isFirst && before !== undefined && { base: before }),
  };
}
