/** Runs on a LangGraph-compatible server, over HTTP and server-sent events. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import { GraphServeError } from "../../errors.js";
import { askServer, serverAddress, unreachable } from "../server-client.js";
import type { RunEvent, RunTarget } from "./target.js";

/**
 * A server at `url`. Without `assistant`, its first one is run.
 * @throws GraphServeError when it cannot be reached (`server_unreachable`)
 */
export async function remoteTarget(url: string, assistant?: string): Promise<RunTarget> {
  const base = serverAddress(url);
  return {
    assistantId: assistant ?? (await firstAssistant(base)),
    keepsThreads: true,
    async *stream(threadId, request, signal): AsyncIterable<RunEvent> {
      const path = `/threads/${encodeURIComponent(threadId)}/runs/stream`;
      const { body } = await askServer(base, path, { method: "POST", body: request, signal });
      if (!body) throw unreachable(base, "it sent an empty answer");
      const events = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
      for await (const { id, event, data } of events) yield { id: id ?? "", event: event ?? "message", data };
    },
    close: () => Promise.resolve(),
  };
}

async function firstAssistant(base: string): Promise<string> {
  const answer = await askServer(base, "/assistants/search", { method: "POST", body: { limit: 1 } });
  const found = (await answer.json()) as { assistant_id: string }[];
  if (found[0]) return found[0].assistant_id;
  throw new GraphServeError("assistant_not_found", `the server at ${base} has no assistant`);
}
