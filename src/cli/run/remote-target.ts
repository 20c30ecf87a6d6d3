/** Runs on a LangGraph-compatible server, over HTTP and server-sent events. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { GraphServeError } from "../../errors.js";
import { askServer, serverAt, unreachable, type Server, type ServerAddress } from "../server-client.js";
import type { RunEvent, RunTarget } from "./target.js";
import { foundOnly, graphIdOf } from "./thread-graph.js";

/**
 * A server. Without `assistant`, its first one is run.
 * @throws GraphServeError when it cannot be reached (`server_unreachable`)
 */
export async function remoteTarget(address: ServerAddress, assistant?: string): Promise<RunTarget> {
  const server = serverAt(address);
  return {
    assistantId: assistant ?? (await firstAssistant(server)),
    keepsThreads: true,
    async graphOf(threadId) {
      const answer = await foundOnly(askServer(server, `/threads/${encodeURIComponent(threadId)}`));
      return graphIdOf((await answer?.json()) as Parameters<typeof graphIdOf>[0]);
    },
    async *stream(threadId, request, signal): AsyncIterable<RunEvent> {
      const path = `/threads/${encodeURIComponent(threadId)}/runs/stream`;
      const { body } = await askServer(server, path, { method: "POST", body: request, signal });
      if (!body) throw unreachable(server.base, "it sent an empty answer");
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { id, event, data } of events) yield { id: id ?? "", event: event ?? "message", data };
    },
    close: () => Promise.resolve(),
  };
}

async function firstAssistant(server: Server): Promise<string> {
  const answer = await askServer(server, "/assistants/search", { method: "POST", body: { limit: 1 } });
  const found = (await answer.json()) as { assistant_id: string }[];
  if (found[0]) return found[0].assistant_id;
  throw new GraphServeError("assistant_not_found", `the server at ${server.base} has no assistant`);
}
