/** A tour of the whole API (docs/specification.md#requests-and-answers). Its answers must be equal on every backend. */
import { graph as chat } from "../../fixtures/graphs/chat.js";
import { graph as custom } from "../../fixtures/graphs/custom.js";
import { graph as fail } from "../../fixtures/graphs/fail.js";
import { graph as gate } from "../../fixtures/graphs/gate.js";
import { graph as hitl } from "../../fixtures/graphs/hitl.js";
import { graph as steps } from "../../fixtures/graphs/steps.js";
import { graph as subgraph } from "../../fixtures/graphs/subgraph.js";
import { ODD_KEYS, say } from "./data.js";
import { field, type Recorder } from "./recorder.js";
import { queue } from "./queue.js";
import { remember } from "./memory.js";
import { searches } from "./searches.js";

export const TOUR_GRAPHS = { chat, custom, fail, gate, hitl, steps, subgraph };

/** Ids that sort in creation order, so that threads created in the same millisecond have the same order everywhere. */
const THREADS = Array.from({ length: 9 }, (_, n) => `0197f0a0-0000-7000-8000-00000000000${n}`);
const [TALK, ASKED, SEEDED, FAILED, NESTED, QUEUED, GONE, LATER] = THREADS.map((id) => `/threads/${id}`);

/** @param restart replaces the server with a new one on the same storage. */
export async function takeTour(recorder: Recorder, restart: () => Promise<void>): Promise<string[]> {
  await create(recorder);
  await converse(recorder);
  await askAndAnswer(recorder);
  await editState(recorder);
  await failAndMend(recorder);
  await nest(recorder);
  await queue(recorder, QUEUED!);
  await remember(recorder);
  await searches(recorder);
  await remove(recorder);
  const before = await readBack(recorder);
  await restart();
  const after = await readBack(recorder);
  await goOn(recorder);
  for (const [index, text] of before.entries()) {
    if (after[index] !== text) throw new Error(`a restart changed ${text} to ${after[index]}`);
  }
  return recorder.transcript();
}

async function create({ ask }: Recorder): Promise<void> {
  const kinds = ["talk", "ask", "seed", "fail", "nest", "queue", "gone"];
  for (const [index, kind] of kinds.entries()) {
    await ask("POST /threads", {
      thread_id: THREADS[index],
      metadata: {
        kind,
        index,
        even: index % 2 === 0,
        owner: { name: index < 3 ? "Ada" : "Bo", tags: ["x", kind] },
        ...ODD_KEYS,
      },
      ...(index === 0 && { ttl: { ttl: 90.5, strategy: "keep_latest" } }),
      ...(kind === "seed" && {
        metadata: { kind, graph_id: "steps" },
        supersteps: [
          { updates: [{ values: { n: 3, log: ["seeded"] }, as_node: "__start__" }] },
          { updates: [{ values: { n: 7, log: ["as step"] }, as_node: "step" }] },
        ],
      }),
    });
  }
  await ask("POST /threads", { thread_id: THREADS[0] });
  await ask("POST /threads", { thread_id: THREADS[0]?.toUpperCase(), if_exists: "do_nothing" });
  await ask("POST /threads", { thread_id: LATER?.slice(9), supersteps: [{ updates: [{ as_node: "no" }] }] });
  await ask(`GET ${LATER}`);
  await ask(`PATCH ${TALK}`, { metadata: { kind: "chat", added: { deep: [null, 1.5, "ü"] } }, ttl: 30 });
  await ask(`PATCH ${LATER}`, { metadata: {} });
}

async function converse({ ask, stream }: Recorder): Promise<void> {
  await ask(`GET ${TALK}/state`);
  await ask(`GET ${TALK}/history`);
  await ask(`POST ${TALK}/runs`, { ...say("one"), metadata: { turn: 1, ...ODD_KEYS } });
  const stream_mode = ["values", "updates", "messages-tuple", "tasks", "checkpoints", "debug"];
  await stream(`POST ${TALK}/runs/stream`, { ...say("two"), stream_mode, durability: "sync" });
  await ask(`POST ${TALK}/runs/wait`, { ...say("three"), durability: "exit" });
  const runs = (await ask(`GET ${TALK}/runs`)).body as { run_id: string }[];
  await ask(`GET ${TALK}/runs?limit=2&offset=1&status=success`);
  await ask(`GET ${TALK}/runs?status=error`);
  await ask(`GET ${TALK}/runs/${runs[1]?.run_id}`);
  await ask(`GET ${TALK}/runs/${runs[1]?.run_id}/join`);
  await ask(`GET ${ASKED}/runs/${runs[1]?.run_id}`);
  await ask(`GET ${TALK}`);
}

async function askAndAnswer({ ask, stream }: Recorder): Promise<void> {
  await ask(`POST ${ASKED}/runs`, { assistant_id: "hitl", input: { topic: "cats" } });
  await ask(`GET ${ASKED}`);
  await ask(`GET ${ASKED}/state?subgraphs=true`);
  const copy = `/threads/${String(field(await ask(`POST ${ASKED}/copy`), "thread_id"))}`;
  await ask(`GET ${copy}/history`);
  const resume = (answer: string) => ({
    assistant_id: "hitl",
    command: { resume: answer },
    stream_mode: ["values", "updates"],
  });
  await stream(`POST ${copy}/runs/stream`, resume("no"));
  await ask(`GET ${copy}/state`);
  await ask(`GET ${ASKED}/state`);
  const asked = field(await ask(`GET ${ASKED}/state`), "checkpoint");
  await ask(`POST ${ASKED}/runs`, resume("yes"));
  await ask(`GET ${ASKED}/history`);
  // Forks from the interrupted checkpoint and gives another answer.
  await stream(`POST ${ASKED}/runs/stream`, { ...resume("perhaps"), checkpoint: asked });
  await ask(`GET ${ASKED}/history?limit=3`);
  await ask(`DELETE ${copy}`);
}

async function editState({ ask }: Recorder): Promise<void> {
  await ask(`GET ${SEEDED}/state`);
  await ask(`POST ${SEEDED}/runs`, { assistant_id: "steps", input: null });
  const history = (await ask(`GET ${SEEDED}/history?limit=1000`)).body as {
    checkpoint: { checkpoint_id: string };
    metadata: { run_id?: string };
  }[];
  const earlier = history[2]?.checkpoint;
  await ask(`GET ${SEEDED}/history?limit=2&before=${earlier?.checkpoint_id}`);
  await ask(`POST ${SEEDED}/history`, { before: earlier, limit: 1 });
  await ask(`POST ${SEEDED}/history`, { metadata: { source: "update" } });
  await ask(`POST ${SEEDED}/history`, { metadata: { run_id: history[0]?.metadata.run_id, step: 1 } });
  await ask(`POST ${SEEDED}/history`, { metadata: { source: { $ne: "loop" } } });
  await ask(`POST ${SEEDED}/history`, { checkpoint: { checkpoint_ns: "nowhere" } });
  await ask(`GET ${SEEDED}/state/${earlier?.checkpoint_id}`);
  await ask(`POST ${SEEDED}/state/checkpoint`, { checkpoint: earlier });
  await ask(`GET ${SEEDED}/state/no-such-checkpoint`);
  await ask(`POST ${SEEDED}/state`, { values: { n: 9, log: ["edited"] }, as_node: "step" });
  await ask(`GET ${SEEDED}`);
  await ask(`POST ${SEEDED}/state`, { values: { n: 1 }, checkpoint_id: earlier?.checkpoint_id });
  await ask(`POST ${SEEDED}/state`, { values: null });
  await ask(`POST ${SEEDED}/state`, { values: {}, as_node: "nobody" });
  await ask(`POST ${SEEDED}/runs`, {
    assistant_id: "steps",
    input: { n: 8 },
    checkpoint: { checkpoint_id: earlier?.checkpoint_id },
  });
  await ask(`GET ${SEEDED}/history?limit=4`);
  const copy = await ask(`POST ${SEEDED}/copy`);
  await ask(`GET /threads/${String(field(copy, "thread_id"))}/state`);
}

async function failAndMend({ ask, stream }: Recorder): Promise<void> {
  const run = { assistant_id: "fail", input: { x: 0 } };
  await ask(`POST ${FAILED}/runs`, run);
  await stream(`POST ${FAILED}/runs/stream`, run);
  await ask(`POST ${FAILED}/runs/wait`, run);
  await ask(`GET ${FAILED}`);
  await ask(`GET ${FAILED}/state`);
  await ask(`POST ${FAILED}/runs`, { ...run, assistant_id: "nobody" });
  await ask(`POST ${FAILED}/runs`, { ...run, webhook: "https://example.com" });
  await ask(`POST ${FAILED}/runs`, { assistant_id: "steps", input: { n: 9 } });
  await stream(`POST ${FAILED}/runs/stream`, {
    assistant_id: "custom",
    input: { count: 3 },
    stream_mode: "custom",
  });
  await ask(`GET ${FAILED}/runs`);
  await ask(`GET ${FAILED}`);
}

async function nest({ ask, stream }: Recorder): Promise<void> {
  const run = { assistant_id: "subgraph", stream_subgraphs: true, stream_mode: ["updates"] };
  const input = { messages: [{ role: "user", content: "hi", id: "hi" }] };
  await ask(`POST ${NESTED}/runs`, { ...run, input, interrupt_before: ["close"] });
  await ask(`GET ${NESTED}/state?subgraphs=true`);
  await ask(`GET ${NESTED}`);
  await ask(`POST ${NESTED}/runs`, { ...run, input: null });
  await stream(`POST ${NESTED}/runs/stream`, { ...run, input });
  await ask(`GET ${NESTED}/history?limit=50`);
}

async function remove({ ask }: Recorder): Promise<void> {
  await ask(`POST ${GONE}/runs`, say("last words"));
  const [run] = (await ask(`GET ${GONE}/runs`)).body as { run_id: string }[];
  await ask(`DELETE ${TALK}/runs/${run?.run_id}`);
  await ask(`DELETE ${GONE}/runs/${run?.run_id}`);
  await ask(`GET ${GONE}/runs`);
  await ask(`DELETE ${GONE}`);
  for (const path of ["", "/state", "/history", "/runs", `/runs/${run?.run_id}`]) {
    await ask(`GET ${GONE}${path}`);
  }
  await ask(`DELETE ${GONE}`);
  await ask("POST /threads", { thread_id: GONE?.slice(9) });
  await ask(`GET ${GONE}/state`);
  await ask("POST /threads/prune", { thread_ids: [THREADS[0], LATER?.slice(9)], strategy: "keep_latest" });
  await ask(`GET ${TALK}/history`);
}

/** Everything stored, as text. */
async function readBack({ ask, quietly }: Recorder): Promise<string[]> {
  const texts: string[] = [];
  const found = await quietly("POST /threads/search", {
    limit: 100,
    sort_by: "created_at",
    sort_order: "asc",
  });
  texts.push(found.text);
  for (const { thread_id } of found.body as { thread_id: string }[]) {
    const thread = `/threads/${thread_id}`;
    for (const path of ["", "/state?subgraphs=true", "/history?limit=1000", "/runs?limit=1000"]) {
      texts.push((await ask(`GET ${thread}${path}`)).text);
    }
  }
  texts.push((await ask("POST /store/items/search", { namespace_prefix: [] })).text);
  return texts;
}

async function goOn({ ask }: Recorder): Promise<void> {
  await ask(`POST ${TALK}/runs`, say("again"));
  await ask(`GET ${TALK}/state`);
  await ask(`POST ${ASKED}/runs`, { assistant_id: "hitl", input: { topic: "dogs" } });
  await ask(`POST ${ASKED}/runs`, { assistant_id: "hitl", command: { resume: "woof" } });
  await ask(`GET ${ASKED}`);
}
