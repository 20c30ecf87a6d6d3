/** A source over the HTTP interface of a server. */
import { UnsupportedOptionError } from "../../errors.js";
import type { Page } from "../../models/common.js";
import { askServer, serverAddress, type ServerRequest } from "../server-client.js";
import type { Source } from "./source.js";

/** @throws InvalidRequestError when `url` is no http address (`invalid_request`) */
export function remoteSource(url: string): Source {
  const base = serverAddress(url);
  const ask = async <T>(path: string, request?: ServerRequest): Promise<T> =>
    (await (await askServer(base, path, request)).json()) as T;
  const page = async <T>(path: string, body: { offset?: number | null }): Promise<Page<T>> => {
    const answer = await askServer(base, path, { method: "POST", body });
    return pageOf((await answer.json()) as T[], answer.headers, body.offset ?? 0);
  };
  return {
    threads: {
      search: (body) => page("/threads/search", body),
      count: (body) => ask("/threads/count", { method: "POST", body }),
      get: (threadId) => ask(path`/threads/${threadId}`),
      create: (body) => ask("/threads", { method: "POST", body }),
      update: (threadId, body) => ask(path`/threads/${threadId}`, { method: "PATCH", body }),
      async copy(threadId, { checkpoint_id } = {}) {
        if (checkpoint_id !== undefined) throw copiesLatestOnly();
        return ask(path`/threads/${threadId}/copy`, { method: "POST", body: {} });
      },
      async delete(threadId) {
        await askServer(base, path`/threads/${threadId}`, { method: "DELETE" });
      },
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
    place: base,
    placeFlags: { url },
    graphOf: ({ metadata }) => (typeof metadata?.graph_id === "string" ? metadata.graph_id : undefined),
    whyHidden: () => undefined,
    close: () => Promise.resolve(),
  };
}

function copiesLatestOnly(): UnsupportedOptionError {
  return new UnsupportedOptionError(
    "an earlier checkpoint",
    "a server copies the latest state only; with --branch (--in-place) the thread itself goes on from there",
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
