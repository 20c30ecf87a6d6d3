/** LangSmith's own tracing, received by a server on loopback in place of its cloud. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { deferred } from "../helpers/deferred.js";
import { recordingLogger } from "../helpers/service.js";

/** Resolves `root` with the first run that LangSmith's client sends and that has no parent. */
async function startLangSmith() {
  const root = deferred<Record<string, unknown>>();
  const take = async (request: IncomingMessage) => {
    const body = await text(request);
    const runs = (JSON.parse(body) as { post?: Record<string, unknown>[] }).post ?? [];
    const found = runs.find(({ parent_run_id }) => parent_run_id === undefined);
    if (found) root.resolve(found);
  };
  const server = createServer((request, response) => {
    const answer = (body: object) =>
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    // The client asks once what the server accepts: batches as one JSON document.
    if (request.method === "GET") answer({ batch_ingest_config: { use_multipart_endpoint: false } });
    else void take(request).then(() => answer({}));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    vi.unstubAllEnvs();
  });
  vi.stubEnv("LANGSMITH_ENDPOINT", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("LANGSMITH_API_KEY", "key-of-langsmith");
  return root.promise;
}

async function runNames(settings: Parameters<typeof openService>[0]["settings"] = {}) {
  const logger = recordingLogger();
  const service = await openService({ graphs: { assistant: chat }, settings, logger });
  onTestFinished(() => service.close(0));
  const { thread_id } = await service.threads.create({});
  const input = { messages: [{ role: "user", content: "hello" }] };
  const { frames } = await service.runs.stream(thread_id, {
    ...{ assistant_id: "assistant", input },
    stream_mode: ["events"],
  });
  const names = new Set<unknown>();
  for await (const batch of frames)
    for (const { event, data } of batch)
      if (event === "events") names.add((JSON.parse(data) as { name?: unknown }).name);
  return { names, warnings: logger.of("warn") };
}

it("runs are named by their graph, and the log says what leaves the machine", async () => {
  const received = startLangSmith();
  vi.stubEnv("LANGSMITH_TRACING", "true");
  const { warnings } = await runNames();
  expect(warnings).toContain(
    "LANGSMITH_TRACING is on: inputs and outputs of every run are sent to LangSmith",
  );
  expect(await received).toMatchObject({ name: "assistant", run_type: "chain" });
});

it("without it, events keep the name of the compiled graph", async () => {
  const { names, warnings } = await runNames();
  expect([...names]).toContain("chat");
  expect(warnings).toEqual([]);
});
