/** A source over the HTTP interface of a server. */
import { UnsupportedOptionError } from "../../errors.js";
import type { Page } from "../../models/common.js";
import type { ThreadState } from "../../models/state.js";
import type { Thread } from "../../models/thread.js";
import { askServer, serverAt, type ServerAddress, type ServerRequest } from "../server-client.js";
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
