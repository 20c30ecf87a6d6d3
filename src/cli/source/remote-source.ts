/** A source over the HTTP interface of a server. */
import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Page } from "../../models/common.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import { GraphServeError, UnsupportedOptionError } from "../../support/errors.js";
import type { RunEvent, RunTarget } from "../run/target.js";
import {
  askServer,
  type Server,
  type ServerAddress,
  serverAt,
  type ServerRequest,
  unreachable,
} from "../server-client.js";
import type { Source } from "./source.js";

/** @throws InvalidRequestError when the url is no http address (`invalid_request`) */
export function remoteSource(address: ServerAddress): Source {
  const server = serverAt(address);
  const ask: Ask = async <T>(path: string, request?: ServerRequest) => {
    const answer = await askServer(server, path, request);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  };
  const page = async <T>(path: string, body: { offset?: number | null }): Promise<Page<T>> => {
    const answer = await askServer(server, path, { method: "POST", body });
    return pageOf((await answer.json()) as T[], answer.headers, body.offset ?? 0);
  };
  return {
    threads: {
      search: (body) => page("/threads/search", body),
      count: (body) => ask("/threads/count", { method: "POST", body }),
      get: (threadId) => ask(path`/threads/${threadId}`),
      create: (body) => ask("/threads", { method: "POST", body }),
      update: (threadId, body) => ask(path`/threads/${threadId}`, { method: "PATCH", body }),
      copy: (threadId, options = {}) => copyThread(ask, threadId, options),
      delete: (threadId) => ask(path`/threads/${threadId}`, { method: "DELETE" }),
    },
    runs: {
      list: (threadId, query) => ask(path`/threads/${threadId}/runs` + queryOf({ ...query })),
      get: (threadId, runId) => ask(path`/threads/${threadId}/runs/${runId}`),
    },
    state: {
      get: (threadId, { checkpoint, subgraphs } = {}) =>
        checkpoint === undefined
          ? ask(path`/threads/${threadId}/state` + queryOf({ subgraphs }))
          : ask(path`/threads/${threadId}/state/checkpoint`, {
              method: "POST",
              body: { checkpoint, subgraphs },
            }),
      history: (threadId, body) => ask(path`/threads/${threadId}/history`, { method: "POST", body }),
      update: (threadId, body) => ask(path`/threads/${threadId}/state`, { method: "POST", body }),
    },
    assistants: {
      search: (body) => page("/assistants/search", body),
      get: (id) => ask(path`/assistants/${id}`),
      schemas: (id) => ask(path`/assistants/${id}/schemas`),
      draw: (id, { xray }) => ask(path`/assistants/${id}/graph` + queryOf({ xray })),
      subgraphs: (id, { recurse }) => ask(path`/assistants/${id}/subgraphs` + queryOf({ recurse })),
    },
    place: server.base,
    placeFlags: { url: address.url },
    graphOf: ({ metadata }) => (typeof metadata?.graph_id === "string" ? metadata.graph_id : undefined),
    whyHidden: () => undefined,
    close: () => Promise.resolve(),
  };
}

type Ask = <T>(path: string, request?: ServerRequest) => Promise<T>;

/** Other servers copy the latest state whatever is asked for: the copy then goes again. */
async function copyThread(
  ask: Ask,
  threadId: string,
  { checkpoint_id }: { checkpoint_id?: string },
): Promise<Thread> {
  const copyPath = path`/threads/${threadId}/copy` + queryOf({ checkpoint_id });
  const copy = await ask<Thread>(copyPath, { method: "POST" });
  if (checkpoint_id === undefined) return copy;
  const { checkpoint } = await ask<ThreadState>(path`/threads/${copy.thread_id}/state`);
  if (checkpoint?.checkpoint_id === checkpoint_id) return copy;
  await ask(path`/threads/${copy.thread_id}`, { method: "DELETE" });
  throw new UnsupportedOptionError(
    "an earlier checkpoint",
    "this server copies the latest state only; with --branch (--in-place) the thread itself goes on from there",
  );
}

/** A path whose parts are data. */
function path(texts: TemplateStringsArray, ...parts: string[]): string {
  return String.raw({ raw: texts }, ...parts.map(encodeURIComponent));
}

function queryOf(values: Record<string, string | number | boolean | undefined>): string {
  const given = Object.entries(values).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`;
}

function pageOf<T>(items: T[], headers: Headers, offset: number): Page<T> {
  const [total, next] = [headers.get("X-Pagination-Total"), headers.get("X-Pagination-Next")];
  return {
    items,
    total: total === null ? offset + items.length : Number(total),
    next: next === null ? null : Number(next),
  };
}

// Runs on a LangGraph-compatible server, over HTTP and server-sent events.

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

/**
 * The graph of a server that a command is about: the one it names, else the server's first.
 * @throws GraphServeError when the server has none (`assistant_not_found`)
 */
export async function serverGraph(source: Source, target: string | undefined): Promise<string> {
  if (target !== undefined) return target;
  const [first] = (await source.assistants.search({ limit: 1 })).items;
  if (first?.graph_id !== undefined) return first.graph_id;
  throw new GraphServeError("assistant_not_found", `the server at ${source.place} has no assistant`);
}

/** Which graph a thread runs, where the caller names none. */

/** Undefined where a thread is asked for that is not there. */
export async function foundOnly<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code === "thread_not_found") return undefined;
    throw error;
  }
}

/** The graph that a thread ran last, by its metadata. */
export function graphIdOf(thread: { metadata: Record<string, unknown> } | undefined): string | undefined {
  const id = thread?.metadata.graph_id;
  return typeof id === "string" ? id : undefined;
}
