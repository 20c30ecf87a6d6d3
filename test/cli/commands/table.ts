/** Arguments for each command: a successful call, a missing resource, an empty result and bad input. */
import type { EveryKind } from "../sources/every-kind.js";

export interface Entry {
  /** Arguments that exit with code 0; undefined for servers, which run until stopped. */
  succeeds?: string[];
  /** Arguments that name a missing resource, and the exit code for it. */
  missing?: string[];
  missingExit?: number;
  /** Arguments with no results: `items` of the document is `[]`. */
  empty?: string[];
  /** Arguments that are rejected with exit code 2. */
  bad: string[];
  /** Why lines are not fitted to the terminal width: they are data for a file or a program. */
  isData?: string;
  /** Why `--json` prints no document. */
  noDocument?: string;
}

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

export interface Ids extends Pick<EveryKind, "threads" | "run" | "fork"> {
  /** The thread to show: an ordinary one, or one full of control characters. */
  thread: string;
  /** A run of `thread`. */
  ownRun: string;
}

/** Entries by command name, without command groups. Order matters: commands that delete come last. */
export function entries({ threads, thread, ownRun }: Ids): Record<string, Entry> {
  const file = "a thread file";
  return {
    // `dev` waits for a missing graph file instead of failing.
    dev: { bad: ["--port", "none"] },
    demo: { bad: ["--port", "none"] },
    studio: { bad: ["--port", "none"] },
    start: { bad: ["./nothing.ts"] },
    worker: { bad: ["./nothing.ts"] },
    // `mcp` turns a missing graph file into a tool that reports the error.
    mcp: { bad: ["nothing"] },
    run: {
      succeeds: ["--message", "hello"],
      missing: ["--thread", NOBODY, "--message", "x"],
      bad: ["-i", "{"],
      isData: "the final values, as JSON",
    },
    "threads list": { succeeds: [], empty: ["--status", "busy"], bad: ["--limit", "none"] },
    "threads create": { succeeds: ["--metadata", "a=1"], bad: ["--metadata", "a"] },
    "threads patch": {
      succeeds: [thread, "--metadata", "x=1"],
      missing: [NOBODY],
      bad: [thread, "--ttl", "never"],
    },
    "threads prune": {
      succeeds: ["--older-than", "30d", "--dry-run"],
      empty: ["--older-than", "30d", "--dry-run"],
      bad: ["--older-than", "long"],
    },
    "runs list": {
      succeeds: [thread],
      empty: [threads.empty],
      missing: [NOBODY],
      bad: ["--status", "done"],
    },
    usage: { succeeds: [], bad: ["--since", "long"] },
    "versions list": { succeeds: [], bad: ["--nothing"] },
    "versions check": { succeeds: [], bad: ["--nothing"] },
    "versions migrate": { bad: ["--since", "long"] },
    shadow: { succeeds: [], empty: ["--since", "2100-01-01"], bad: ["--since", "long"] },
    "runs rerun": { empty: ["--since", "2100-01-01"], bad: ["--status", "done"] },
    "trace export": { bad: [] },
    "runs tail": { bad: ["--url", "nothing"] },
    "runs dead": { succeeds: [], empty: [], bad: ["--limit", "none"] },
    "runs redrive": { missing: [NOBODY], bad: [] },
    "assistants list": { succeeds: [], bad: ["--limit", "none"] },
    "assistants show": { missing: [NOBODY], bad: ["no id"] },
    "assistants delete": { missing: [NOBODY, "--yes"], bad: ["no id", "--yes"] },
    "crons list": { succeeds: [], empty: [], bad: ["--limit", "none"] },
    "crons show": { missing: [NOBODY], bad: ["no id"] },
    "crons pause": { missing: [NOBODY], bad: ["no id"] },
    "crons resume": { missing: [NOBODY], bad: ["no id"] },
    "crons delete": { missing: [NOBODY, "--yes"], bad: ["no id", "--yes"] },
    "webhooks list": { succeeds: [], empty: [], bad: ["--status", "done"] },
    "webhooks send": { missing: [NOBODY], bad: ["no id"] },
    "webhooks delete": { missing: [NOBODY], bad: ["no id"] },
    "inspect thread": { succeeds: [thread], missing: [NOBODY], bad: ["no id"] },
    "inspect run": { succeeds: [ownRun], missing: [NOBODY], bad: ["no id"] },
    "inspect checkpoint": { succeeds: [thread, "--writes"], missing: [thread, "99"], bad: [thread, "no id"] },
    "inspect state": {
      succeeds: [thread],
      missing: [thread, "--checkpoint", "99"],
      bad: [thread, "--path", "a["],
      isData: "one value, for a pipe",
    },
    history: { succeeds: [thread], empty: [threads.empty], missing: [NOBODY], bad: [thread, "--limit", "0"] },
    diff: {
      succeeds: [`${thread}@0`, thread],
      missing: [NOBODY, thread],
      bad: [thread, thread, "--path", "a["],
    },
    replay: {
      succeeds: [thread],
      empty: [threads.empty],
      missing: [NOBODY],
      bad: [thread, "--delay", "long"],
    },
    fork: { succeeds: [thread], missing: [NOBODY], bad: [thread, "--values", "{"] },
    "state set": {
      succeeds: [thread, "--values", "{}"],
      missing: [NOBODY, "--values", "{}"],
      bad: [thread, "--values", "{"],
    },
    export: { succeeds: [thread], missing: [NOBODY], bad: [thread, "--redact", "a["], isData: file },
    import: { succeeds: ["thread.json", "--as", "new"], bad: ["graph.ts"] },
    test: { succeeds: ["passes.graph.yaml"], bad: ["nothing.graph.yaml"] },
    validate: { succeeds: [], bad: ["--config", "nothing.json"] },
    init: { succeeds: ["made-here", "-t", "minimal"], bad: ["made-there", "-t", "huge"] },
    "config print": { succeeds: ["--origin"], bad: ["--config", "nothing.json"] },
    "config path": { succeeds: [], bad: ["--config", "nothing.json"], isData: "a path" },
    "config schema": { succeeds: [], bad: ["--nothing"], isData: "a JSON schema" },
    // Needs a lock file, which this project does not have; see test/cli/dockerfile.test.ts.
    dockerfile: { bad: ["./nothing.ts"] },
    openapi: { succeeds: [], bad: ["--check", "graph.ts"], isData: "a document" },
    schemas: { succeeds: [], bad: ["--kind", "huge"], isData: "JSON schemas" },
    graph: { succeeds: [], missing: ["--thread", NOBODY], bad: ["./nothing.ts"] },
    doctor: { succeeds: [], bad: ["--nothing"] },
    "migrate status": { succeeds: [], bad: ["--checkpointer-scheme", "nothing"] },
    "migrate up": { succeeds: [], bad: ["--checkpointer-scheme", "nothing"] },
    "migrate copy": { succeeds: ["--to", "./copied.db", "--yes"], bad: ["--to", "nothing://x"] },
    recover: { succeeds: [], empty: [], bad: ["--checkpointer-scheme", "memory"] },
    completion: { succeeds: ["bash"], bad: ["csh"], isData: "a script", noDocument: "a script for a shell" },
    "threads delete": { succeeds: [thread, "--yes"], missing: [NOBODY, "--yes"], bad: ["no id", "--yes"] },
  };
}
