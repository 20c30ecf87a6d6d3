/** A stream that disconnects: the official SDK resumes it where it stopped. */
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { collect, dataOf, openClient } from "./open.js";

/** Passes the response through up to a text, then fails like fetch on a closed socket. */
function brokenAfter(response: Response, text: string): Response {
  const decoder = new TextDecoder();
  let broken = false;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (broken) return;
      const [whole, rest] = decoder.decode(bytes, { stream: true }).split(text, 2);
      controller.enqueue(new TextEncoder().encode(whole));
      broken = rest !== undefined;
      // In a separate turn, so that the previous bytes are read first.
      if (broken) setImmediate(() => controller.error(new TypeError("terminated")));
    },
  });
  return new Response(response.body?.pipeThrough(cut), response);
}

describe("a stream that disconnects", () => {
  it("is resumed without a gap", async () => {
    const { client, server } = await openClient();
    const { thread_id } = await client.threads.create();
    const asked: string[] = [];
    const breaking = new Client({
      apiUrl: server.url,
      apiKey: null,
      callerOptions: {
        fetch: async (url: string, init: RequestInit) => {
          asked.push(
            `${init.method} ${new URL(url).pathname} ${new Headers(init.headers).get("last-event-id")}`,
          );
          const response = await fetch(url, init);
          return init.method === "POST" ? brokenAfter(response, "id: 2\n") : response;
        },
      },
    });
    const payload = { input: { n: 0 }, onDisconnect: "continue", streamMode: "values" } as const;
    const chunks = await collect(breaking.runs.stream(thread_id, "steps", payload));
    const [{ run_id } = { run_id: "" }] = await client.runs.list(thread_id);
    const path = `/threads/${thread_id}/runs/${run_id}/stream`;
    expect(asked).toEqual([`POST /threads/${thread_id}/runs/stream null`, `GET ${path} 1`]);
    expect(chunks.map(({ id }) => Number(id))).toEqual(chunks.map((_, index) => index));
    expect(dataOf(chunks, "values")).toHaveLength(11);
    expect(chunks.at(-1)).toMatchObject({ event: "end", data: { status: "success" } });
  });
});
