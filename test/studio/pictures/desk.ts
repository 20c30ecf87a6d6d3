/** A server with the threads that the pictures show. Its clock moves only where the graphs spend time. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, vi } from "vitest";
import type { JudgedResult } from "../../../src/cli/shadow/report.js";
import { saveShadow } from "../../../src/cli/shadow/saved.js";
import { createProject, type Project, type RunningCli, startCli } from "../../cli/harness.js";

const SOURCES = join(import.meta.dirname, "../../fixtures/projects/support-desk");
const FAKE_MODEL = pathToFileURL(join(import.meta.dirname, "../../fixtures/fake-model.ts")).href;

/** When the pictures are taken. */
export const NOW = "2026-11-24T14:30:00.000Z";

const idOf = (number: number): string => `0197f0a0-0000-7000-8000-${String(number).padStart(12, "0")}`;

/** The threads by what they show. */
export const THREADS = {
  order: idOf(1),
  charged: idOf(2),
  waiting: idOf(3),
  failed: idOf(4),
  unpriced: idOf(5),
  running: idOf(6),
  waiting2: idOf(7),
  forked: idOf(8),
} as const;
type Thread = keyof typeof THREADS;

const said = (content: string) => ({ messages: [{ type: "human", id: `human-${content.length}`, content }] });

const scope = globalThis as { spendTime?: ((ms: number) => void) | undefined };

const setTime = (time: string): void => void vi.setSystemTime(new Date(time));

export interface Desk {
  url: string;
  token: string;
  project: Project;
}

/** One server for all tests of a file. */
export function useDesk(): () => Desk {
  let desk: (Desk & { cli: RunningCli; leave: () => void }) | undefined;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-11-18T08:00:00.000Z") });
    scope.spendTime = (ms) => vi.setSystemTime(Date.now() + ms);
    const project = await createProject({
      "graph.ts": await readFile(join(SOURCES, "graph.ts"), "utf8"),
      "model.ts": (await readFile(join(SOURCES, "model.ts"), "utf8")).replace(
        '"../../fake-model.js"',
        JSON.stringify(FAKE_MODEL),
      ),
      "graph-server.config.json": {
        graphs: { support: "./graph.ts:graph", digest: "./graph.ts:digest" },
        prices: { "small-1": { input: 25, output: 100 }, "large-2": { input: 300, output: 1500 } },
      },
    });
    const cli = startCli(["dev", "-p", "0", "--db", "memory"], { cwd: project.dir });
    const ended = cli.exit.then((code) => {
      throw new Error(`dev ended with ${code}: ${cli.stderr.text}`);
    });
    const [, url = "", token = ""] = await Promise.race([
      cli.stderr.until(/studio (http:\S+)\/studio\/#token=([\da-f]{32})\n/),
      ended,
    ]);
    const running = new AbortController();
    desk = { url, token, project, cli, leave: () => running.abort() };
    await fill(url, running.signal);
    setTime(NOW);
  });
  afterAll(async () => {
    vi.useRealTimers();
    scope.spendTime = undefined;
    desk?.leave();
    desk?.cli.stop();
    await desk?.cli.exit.catch(() => undefined);
    await desk?.project.remove();
  });
  return () => {
    if (!desk) throw new Error("the server has not started");
    return desk;
  };
}

/** Saves the graph with another name of the node that asks. */
export async function renameNode({ project }: Desk): Promise<void> {
  const text = await readFile(join(project.dir, "graph.ts"), "utf8");
  await project.put("graph.ts", text.replaceAll('"approve"', '"confirm"'));
}

/** Saves results of shadow runs of the threads, as `shadow --studio` does. */
export async function saveShadowRuns({ project }: Desk): Promise<void> {
  const kept = { graph_id: "support", accepted: false, difference: null, reason: null };
  const result = (thread: Thread, outcome: string, more: object) =>
    ({ ...kept, thread_id: THREADS[thread], run_ids: [idOf(100)], outcome, ...more }) as JudgedResult;
  const words = { place: "messages", before: "It arrives tomorrow.", now: "It arrives on Tuesday." };
  const path = { place: "after answer", before: "lookup", now: "approve" };
  await saveShadow(project.dir, {
    against: "./next.ts",
    summary: "121 same, 1 differs in words, 1 takes another path, 1 fails",
    results: [
      ...Array.from({ length: 121 }, () => result("order", "same", {})),
      result("order", "words", { difference: words }),
      result("charged", "path", { difference: path }),
      result("waiting", "status", {
        difference: { place: "status", before: "success", now: "error" },
        reason: "TypeError: order.lines is undefined",
      }),
    ],
  });
}

async function fill(url: string, signal: AbortSignal): Promise<void> {
  const send = async (method: string, path: string, body: object): Promise<unknown> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
    if (response.status >= 400 && !path.endsWith("/runs")) throw new Error(await response.text());
    return response.status === 204 ? undefined : response.json();
  };
  const ask = async (thread: Thread, content: string, more: object = {}) => {
    const path = `/threads/${THREADS[thread]}/runs`;
    await send("POST", path, { assistant_id: "support", input: said(content), ...more });
  };
  const start = async (time: string, thread: Thread, content: string) => {
    setTime(time);
    await send("POST", "/threads", { thread_id: THREADS[thread], metadata: { user: "ada" } });
    await ask(thread, content);
  };
  await start("2026-11-18T09:10:00.000Z", "charged", "Why was I charged twice?");
  await start("2026-11-20T16:42:00.000Z", "unpriced", "Please end my subscription");
  await start("2026-11-22T11:05:00.000Z", "forked", "Where is order 4708?");
  await fork(send);
  await start("2026-11-24T12:20:00.000Z", "waiting2", "I want a refund for order 4710");
  await start("2026-11-24T13:02:00.000Z", "waiting", "Please refund order 4712");
  await start("2026-11-24T13:47:00.000Z", "failed", "Please refund order 4713");
  setTime("2026-11-24T13:55:00.000Z");
  const path = `/threads/${THREADS.failed}/runs`;
  await send("POST", path, { assistant_id: "support", command: { resume: { approved: true } } });
  await start("2026-11-24T14:21:00.000Z", "order", "Where is order 4711?");
  setTime("2026-11-24T14:24:00.000Z");
  for (const [key, value] of [
    ["address", { city: "Turin", street: "Via Po 12" }],
    ["language", { code: "en" }],
    ["tone", { style: "short answers", since: "2026-10-02" }],
  ])
    await send("PUT", "/store/items", { namespace: ["users", "ada"], key, value });
  setTime("2026-11-24T14:29:48.000Z");
  await send("POST", "/threads", { thread_id: THREADS.running, metadata: { user: "ada" } });
  await begin(url, signal);
}

/** A second branch of a thread, from its step after triage. */
async function fork(send: (method: string, path: string, body: object) => Promise<unknown>): Promise<void> {
  const path = `/threads/${THREADS.forked}`;
  const states = (await send("POST", `${path}/history`, { limit: 20 })) as {
    checkpoint: { checkpoint_id: string };
    next: string[];
  }[];
  const step = states.findLast(({ next }) => next[0] === "agent");
  if (!step) throw new Error("no step to fork from");
  setTime("2026-11-22T11:09:00.000Z");
  await send("POST", `${path}/runs`, {
    assistant_id: "support",
    input: said("And order 4709, which I sent back?"),
    checkpoint_id: step.checkpoint.checkpoint_id,
  });
}

/** A run that runs until its client leaves. */
async function begin(url: string, signal: AbortSignal): Promise<void> {
  const body = {
    ...{ assistant_id: "support", input: said("Summarize the week"), on_disconnect: "cancel" },
    stream_mode: ["values", "messages-tuple", "tasks", "updates"],
  };
  const response = await fetch(`${url}/threads/${THREADS.running}/runs/stream`, {
    ...{ method: "POST", signal, headers: { "content-type": "application/json" } },
    body: JSON.stringify(body),
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let seen = "";
  while (reader && !seen.includes('"agent"')) {
    const { done, value = "" } = await reader.read();
    if (done) throw new Error(`the run ended: ${seen}`);
    seen += value;
  }
  void reader?.read().catch(() => undefined);
}
