/** `live`: whether tokens arrive as they are generated, compared with the same agent in process. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Settings } from "../../src/config/settings.js";
import type * as ServerModule from "../../src/http/server.js";
import type * as ServiceModule from "../../src/service/open.js";
import { AGENT_KINDS, AGENTS, type AgentKind } from "../../test/fixtures/agents.js";
import { PacedModel } from "../../test/fixtures/paced-model.js";
import { loadDist } from "../dist-modules.js";
import { QUESTION } from "../graphs.js";
import type { Stage } from "../processes.js";
import { ratioRow, type Row } from "../report.js";
import { median } from "../stats.js";

const WORDS = "one two three four five six seven eight nine ten";
const PAUSE_MS = 100;
const COMPATS: readonly Settings["compat"][] = ["specification", "langgraph"];

interface StreamingGraph {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>;
}

/** Streams ten words at 100 ms from each kind of agent. A server that buffers tokens has a span near 0. */
export async function live(goal: string, stage: Stage): Promise<Row[]> {
  const rows: Row[] = [];
  for (const kind of AGENT_KINDS)
    for (const compat of COMPATS) rows.push(await liveAgent(goal, stage, kind, compat));
  return rows;
}

async function liveAgent(
  goal: string,
  { options }: Stage,
  kind: AgentKind,
  compat: Settings["compat"],
): Promise<Row> {
  const graph = AGENTS[kind](
    new PacedModel(
      () => sleep(PAUSE_MS),
      () => WORDS,
    ),
  ) as StreamingGraph;
  const server = await serve(options.dist, graph, compat);
  const floor: number[] = [];
  const ours: number[] = [];
  try {
    for (let round = 0; round < options.rounds; round += 1) {
      floor.push(await spanInProcess(graph));
      ours.push(await spanOverHttp(server.url));
    }
  } finally {
    await server.close(0);
  }
  const what = `ten words at ${PAUSE_MS} ms from ${kind}, compat ${compat}: first to last`;
  const times = { floor: median(floor), ours: median(ours), unit: "ms" };
  return ratioRow([goal, what], times, { atLeast: 0.95, atMost: 1.05 });
}

async function serve(dist: string, graph: unknown, compat: Settings["compat"]) {
  const { openService } = await loadDist<typeof ServiceModule>(dist, "service");
  const { startServer } = await loadDist<typeof ServerModule>(dist, "server");
  const service = await openService({ graphs: { agent: graph }, settings: { compat } });
  return startServer(service, { host: "127.0.0.1", port: 0 });
}

/** Milliseconds from the first to the last word. */
class Span {
  #first = 0;
  #last = 0;

  word(): void {
    this.#last = performance.now();
    this.#first ||= this.#last;
  }

  get ms(): number {
    return this.#last - this.#first;
  }
}

async function spanInProcess(graph: StreamingGraph): Promise<number> {
  const span = new Span();
  const chunks = await graph.stream(QUESTION, { streamMode: "messages", subgraphs: true });
  for await (const chunk of chunks) {
    const [, [message]] = chunk as [unknown, [{ text: string }]];
    if (isWord(message.text)) span.word();
  }
  return span.ms;
}

async function spanOverHttp(url: string): Promise<number> {
  const span = new Span();
  const response = await fetch(`${url}/runs/stream`, {
    method: "POST",
    body: JSON.stringify({
      ...{ assistant_id: "agent", input: QUESTION },
      ...{ stream_mode: "messages-tuple", stream_subgraphs: true },
    }),
  });
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>)
    for (const [, text = ""] of decoder.decode(bytes).matchAll(/^data: \[\{"content":"([^"]*)"/gm))
      if (isWord(text)) span.word();
  return span.ms;
}

const isWord = (text: string): boolean => text !== "" && WORDS.includes(text.trim());
