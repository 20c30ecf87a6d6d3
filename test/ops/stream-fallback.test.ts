/** Runs read LangGraph's own generator, or its public stream: by setting, or if its internals are unknown. */
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { Pregel } from "@langchain/langgraph/pregel";
import { describe, expect, it, vi } from "vitest";
import type { RunCreateRequest } from "../../src/models/run.js";
import { openTestService, readAll, recordingLogger, type StreamEvent } from "../helpers/service.js";

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});

/** Two nodes; the first one repeats forever if the input is `loop`. */
const compile = () =>
  new StateGraph(State)
    .addNode("a", (_state, config) => {
      config.writer?.({ at: "a" });
      return { log: ["a"] };
    })
    .addNode("b", () => ({ log: ["b"] }))
    .addEdge(START, "a")
    .addConditionalEdges("a", ({ log }) => (log[0] === "loop" ? "a" : "b"))
    .compile();

const UNKNOWN = "unknown version of LangGraph: its public stream is read";

/** Ids and times differ between runs. */
const stable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, field: unknown) =>
      /(^|_)id$|_at$|ts$|checkpoint|langgraph_|parent_ids|run_attempt|created_by/.test(key)
        ? undefined
        : field,
    ),
  );

interface Ran {
  events: StreamEvent[];
  /** Number of calls of the graph's public stream. */
  streams: number;
  notes: string[];
}

async function run(request: Partial<RunCreateRequest>, direct = true): Promise<Ran> {
  const logger = recordingLogger();
  const stream = vi.spyOn(Pregel.prototype, "stream");
  const settings = { direct_streams: direct, allow_unfiltered_events: true };
  const service = await openTestService({ graphs: { agent: compile() }, settings, logger });
  const { thread_id } = await service.threads.create({});
  const body = { assistant_id: "agent", input: { log: ["in"] }, ...request } as RunCreateRequest;
  const events = await readAll(await service.runs.stream(thread_id, body));
  const streams = stream.mock.calls.length;
  stream.mockRestore();
  return { events, streams, notes: logger.of("info").filter((note) => note === UNKNOWN) };
}

describe.each<[string, Partial<RunCreateRequest>]>([
  ["values, updates and custom events", { stream_mode: ["values", "updates", "custom"] }],
  ["streamEvents", { stream_mode: ["events"] }],
  [
    "a recursion limit",
    { stream_mode: ["updates"], input: { log: ["loop"] }, config: { recursion_limit: 4 } },
  ],
])("a run with %s", (_what, request) => {
  it("has the same frames if the setting direct_streams is off", async () => {
    const [direct, forced] = [await run(request), await run(request, false)];
    expect(stable(forced.events)).toEqual(stable(direct.events));
    if (request.stream_mode?.includes("events")) return;
    expect([direct.streams, forced.streams]).toEqual([0, 1]);
    expect([direct.notes, forced.notes]).toEqual([[], []]);
  });
});

it("a LangGraph with unknown internals is read through its public stream, with a log line", async () => {
  const { prototype } = Pregel as unknown as { prototype: Record<string, unknown> };
  const { stream, _streamIterator } = prototype;
  const expected = await run({ stream_mode: ["values"] });
  expect(expected.notes).toEqual([]);
  try {
    // As if the generator had another name, which only `stream` knows.
    prototype._streamIterator = undefined;
    prototype.stream = function (this: object, ...args: unknown[]) {
      const self = Object.create(this, { _streamIterator: { value: _streamIterator } }) as object;
      return (stream as (...args: unknown[]) => unknown).apply(self, args);
    };
    const { events, notes } = await run({ stream_mode: ["values"] });
    expect(stable(events)).toEqual(stable(expected.events));
    expect(notes).toEqual([UNKNOWN]);
  } finally {
    Object.assign(prototype, { stream, _streamIterator });
  }
});
