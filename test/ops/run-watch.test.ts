/** `onActivity` reports what runs do without changing what they stream. */
import { expect, it } from "vitest";
import type { RunActivity } from "../../src/models/run-activity.js";
import { openService } from "../../src/service/open.js";
import type { Service } from "../../src/service/service.js";
import { graph as agent } from "../fixtures/graphs/agent.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as vault } from "../fixtures/graphs/vault.js";
import { readAll } from "../helpers/service.js";

const graphs = { agent, fail, vault };

async function frames(service: Service, assistant_id: string, input: object): Promise<string> {
  const stream_mode = ["values", "updates", "messages-tuple", "tasks", "tools", "custom"] as const;
  const { thread_id } = await service.threads.create({});
  const request = { assistant_id, input, stream_mode: [...stream_mode], stream_subgraphs: true };
  const text = JSON.stringify(await readAll(await service.runs.stream(thread_id, request)));
  return (
    text
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}/g, "ID")
      .replace(/"(run-|lc_tool_)?ID"/g, '"ID"')
      // The agent sets the name of the model's message, and LangGraph sets the id of a tool message, either
      // before or right after they are streamed.
      .replaceAll('"name":"model",', "")
      .replace(/"id":"run-ID-tool-\w+",/g, "")
  );
}

it.each([
  ["agent", { messages: [{ role: "user", content: "2 + 3" }] }],
  ["vault", { n: 1 }],
  ["fail", {}],
])("a run of %s streams the same frames with and without a watcher", async (id, input) => {
  const seen: RunActivity[] = [];
  const plain = await openService({ graphs });
  const watched = await openService({ graphs, onActivity: (activity) => void seen.push(activity) });
  try {
    expect(await frames(watched, id, input)).toBe(await frames(plain, id, input));
    expect(seen[0]?.kind).toBe("begin");
    expect(seen.map(({ kind }) => kind)).toContain("node");
    expect(seen.at(-1)?.kind).toBe("end");
  } finally {
    await Promise.all([plain.close(0), watched.close(0)]);
  }
});

it("a run is not affected by a watcher that throws", async () => {
  const service = await openService({
    graphs,
    onActivity: () => {
      throw new Error("not ready");
    },
  });
  const { thread_id } = await service.threads.create({});
  const run = await service.runs.create(thread_id, { assistant_id: "vault", input: { n: 1 } });
  expect(run.status).toBe("interrupted");
  await service.close(0);
});
