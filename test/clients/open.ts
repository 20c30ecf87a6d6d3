/** A server with the fixture graphs on a free port, and the official SDK's client for it. */
import { Client } from "@langchain/langgraph-sdk";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { graph as custom } from "../fixtures/graphs/custom.js";
import { graph as fail } from "../fixtures/graphs/fail.js";
import { graph as functional } from "../fixtures/graphs/functional.js";
import { graph as gate } from "../fixtures/graphs/gate.js";
import { graph as hitl } from "../fixtures/graphs/hitl.js";
import { graph as steps } from "../fixtures/graphs/steps.js";
import { graph as subgraph } from "../fixtures/graphs/subgraph.js";
import { graph as vault } from "../fixtures/graphs/vault.js";
import { startTestServer, type TestServer } from "../helpers/app.js";
import type { TestServiceOptions } from "../helpers/service.js";

/** The default assistant is `chat`. */
export const graphs = { chat, custom, fail, functional, gate, hitl, steps, subgraph, vault };

export const NOBODY = "0197f0a0-0000-7000-8000-00000000dead";

export interface OpenServer {
  server: TestServer;
  client: Client;
}

export async function openClient(options: Partial<TestServiceOptions> = {}): Promise<OpenServer> {
  const server = await startTestServer({ graphs, ...options });
  return { server, client: clientOf(server.url) };
}

/** A client with the SDK's defaults, including retries, but without an API key from the environment. */
export const clientOf = (apiUrl: string): Client => new Client({ apiUrl, apiKey: null });

/** An input with one user message. */
export const says = (content: unknown) => ({ messages: [{ role: "user", content }] });

export interface Chunk {
  id?: string;
  event: string;
  data: unknown;
}

/** Collects everything that an SDK stream yields. */
export async function collect(stream: AsyncIterable<Chunk>): Promise<Chunk[]> {
  const chunks: Chunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

export const eventsOf = (chunks: readonly Chunk[]): string[] => chunks.map(({ event }) => event);

/** Data of the chunks with the given event. */
export const dataOf = (chunks: readonly Chunk[], event: string): unknown[] =>
  chunks.filter((chunk) => chunk.event === event).map(({ data }) => data);
