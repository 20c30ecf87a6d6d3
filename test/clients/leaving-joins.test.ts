/** Clients that join and leave a run without new frames are released immediately, not when the next frame arrives. */
import { describe, expect, it } from "vitest";
import type { RunStream } from "../../src/models/run-stream.js";
import type { Service } from "../../src/service/service.js";
import { newId } from "../../src/support/ids.js";
import { gateOf } from "../fixtures/gates.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { openTestService } from "../helpers/service.js";

/** A run that waits at its own gate. */
async function silentRun(service: Service, begin: "background" | "create" | "stateless") {
  const name = newId();
  const request = { assistant_id: "gate", input: { gate: name }, stream_mode: ["updates" as const] };
  const { thread_id } = await service.threads.create({});
  const ended =
    begin === "stateless" ? service.runs.createStateless(request) : service.runs[begin](thread_id, request);
  await gateOf(name).entered;
  if (begin === "stateless") return { thread_id, run_id: (await ended).run_id };
  const [run] = await service.runs.list(thread_id, {});
  return { thread_id, run_id: run?.run_id ?? "" };
}

type Ids = Awaited<ReturnType<typeof silentRun>>;

const streams: [
  string,
  Parameters<typeof silentRun>[1],
  (service: Service, ids: Ids) => Promise<RunStream>,
][] = [
  ["the stream of a run", "background", (service, ids) => service.runs.joinStream(ids.thread_id, ids.run_id)],
  [
    "some modes of a run",
    "background",
    (service, ids) => service.runs.joinStream(ids.thread_id, ids.run_id, { modes: ["values"] }),
  ],
  [
    "a run without stored frames",
    "create",
    (service, ids) => service.runs.joinStream(ids.thread_id, ids.run_id),
  ],
  ["a stateless run", "stateless", async (service, { run_id }) => service.runs.joinStatelessStream(run_id)],
];

describe("a client that disconnects", () => {
  it.each(streams)("from %s ends its iteration of frames", async (_what, begin, join) => {
    const service = await openTestService({ graphs: { gate } });
    const stream = await join(service, await silentRun(service, begin));
    let seen = 0;
    for await (const batch of stream.frames) {
      seen += batch.length;
      // The next frame would follow the opening of the gate, which never happens.
      queueMicrotask(() => stream.disconnect());
    }
    expect(seen).toBeGreaterThan(0);
  });

  it("from a joined run rejects the pending answer", async () => {
    const service = await openTestService({ graphs: { gate } });
    const { thread_id, run_id } = await silentRun(service, "background");
    const gone = new AbortController();
    const { answer } = await service.runs.join(thread_id, run_id, { signal: gone.signal });
    const left = expect(answer).rejects.toThrow("abort");
    gone.abort();
    await left;
  });
});
