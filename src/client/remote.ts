/** A client of a server, based on the LangGraph SDK. The SDK is loaded on first use. */
import type { Client as Sdk } from "@langchain/langgraph-sdk/client";
import type { JsonObject } from "../models/common.js";
import type { RunCreateRequest } from "../models/run.js";
import type { ThreadState } from "../models/state.js";
import type { Thread } from "../models/thread.js";
import { GraphServeError, UnsupportedOptionError } from "../support/errors.js";
import { errorMessage } from "../support/errors/thrown.js";
import { type Client, graphIdOf, RUN_DEFAULTS } from "./client.js";
import type { RunEvent } from "./run-events.js";
import { checkedAddress, fetchOf, refusalIn, type ServerAddress, unreachable } from "./server.js";

/** @throws InvalidRequestError if the URL is not an HTTP address (`invalid_request`) */
export async function remoteClient(address: ServerAddress, assistant?: string): Promise<Client> {
  const server = checkedAddress(address);
  const connect = await connector(server);
  const sdk = connect();
  return {
    threads: threadsOf(sdk, connect),
    runs: {
      list: (threadId, filter) => answer(sdk.runs.list(threadId, asSdk(filter))),
      search: (request) => answer(post(server, "/runs/search", request)),
      get: (threadId, runId) => answer(sdk.runs.get(threadId, runId)),
      tasks: (threadId, runId) => answer(ask(server, "GET", `/threads/${threadId}/runs/${runId}/tasks`)),
      dead: (filter) => answer(ask(server, "GET", `/runs/dead?${queryOf(filter)}`)),
      redrive: (threadId, runId) =>
        answer(ask(server, "POST", `/threads/${threadId}/runs/${encodeURIComponent(runId)}/redrive`)),
      stream: (threadId, request, signal) => {
        const { budget } = request;
        // The SDK does not send this field.
        const own = budget == null ? sdk : connect({}, { budget });
        return eventsOfRun({ sdk: own, server, threadId, request, signal });
      },
    },
    assistants: {
      search: ({ graph_id, sort_by, sort_order, ...query }) =>
        answer(
          sdk.assistants.search(
            asSdk({ ...query, graphId: graph_id, sortBy: sort_by, sortOrder: sort_order }),
          ),
        ),
      getSchemas: (id) => answer(sdk.assistants.getSchemas(id)),
      getGraph: (id, options) => answer(sdk.assistants.getGraph(id, options)),
      delete: (id) => answer(sdk.assistants.delete(id)),
    },
    crons: {
      search: (request) => answer(post(server, "/runs/crons/search", request)),
      update: (id, request) => answer(ask(server, "PATCH", `/runs/crons/${id}`, request)),
      delete: (id) => answer(ask(server, "DELETE", `/runs/crons/${id}`)),
    },
    webhooks: {
      list: (filter) => answer(ask(server, "GET", `/webhooks?${queryOf(filter)}`)),
      send: (runId) => answer(ask(server, "POST", `/webhooks/${encodeURIComponent(runId)}/send`)),
      delete: (runId) => answer(ask(server, "DELETE", `/webhooks/${encodeURIComponent(runId)}`)),
    },
    usage: (filter) => answer(ask(server, "GET", `/usage?${queryOf(filter)}`)),
    changes: (signal) => changesOf(server, signal),
    place: server.url,
    url: address.url,
    keepsThreads: true,
    async defaultAssistant() {
      if (assistant !== undefined) return assistant;
      const [first] = await answer<{ assistant_id: string }[]>(sdk.assistants.search({ limit: 1 }));
      if (first) return first.assistant_id;
      throw new GraphServeError("assistant_not_found", `the server at ${server.url} has no assistants`);
    },
    graphOf: graphIdOf,
    whyHidden: () => undefined,
    close: () => Promise.resolve(),
  };
}

/** Creates an SDK client; `query` is added to the URL of every request, `fields` to its body. */
type Connect = (query?: Readonly<Record<string, string>>, fields?: JsonObject) => Sdk;

async function connector(server: ServerAddress): Promise<Connect> {
  const { Client: SdkClient } = await import("@langchain/langgraph-sdk/client");
  return (query = {}, fields) =>
    new SdkClient({
      apiUrl: server.url,
      // Null, because the variables of LangSmith contain keys of other servers.
      apiKey: server.apiKey ?? null,
      callerOptions: { maxRetries: 0, fetch: fetchOf(server) },
      onRequest: (url, init) => {
        for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
        if (!fields || typeof init.body !== "string") return init;
        return { ...init, body: JSON.stringify({ ...(JSON.parse(init.body) as JsonObject), ...fields }) };
      },
    });
}

/** Casts the response to our models, which are more precise than the SDK's types. @throws GraphServeError */
async function answer<T>(call: Promise<unknown>): Promise<T> {
  try {
    return (await call) as T;
  } catch (error) {
    throw refusalIn(error);
  }
}

const queryOf = (filter: object): string =>
  new URLSearchParams(
    Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

const post = (server: ServerAddress, path: string, body: object) => ask(server, "POST", path, body);

/** Sends a request that the SDK does not support; undefined if the response has no content. */
async function ask(server: ServerAddress, method: string, path: string, body?: object): Promise<unknown> {
  const { url, apiKey } = server;
  const headers = {
    "content-type": "application/json",
    ...(apiKey !== undefined && { "x-api-key": apiKey }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetchOf(server)(url + path, init);
  if (response.status !== 200) return undefined;
  return response.json().catch((error: unknown) => {
    throw unreachable(server, errorMessage(error));
  });
}

/** Yields at each event of `GET /changes`; its comment lines only keep the connection open. */
async function* changesOf(server: ServerAddress, signal: AbortSignal): AsyncGenerator<void> {
  const headers = server.apiKey === undefined ? undefined : { "x-api-key": server.apiKey };
  const { body } = await answer<Response>(fetchOf(server)(`${server.url}/changes`, { headers, signal }));
  let rest = "";
  for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (lines.some((line) => line.startsWith("event: changes"))) yield;
  }
}

/** Casts parameters to the SDK's types, some of which are less precise than our models. */
const asSdk = <T>(parameters: object | undefined): T => parameters as T;

function threadsOf({ threads }: Sdk, connect: Connect): Client["threads"] {
  return {
    search: ({ sort_by, sort_order, ...query }) =>
      answer(threads.search(asSdk({ ...query, sortBy: sort_by, sortOrder: sort_order }))),
    count: (query) => answer(threads.count(asSdk(query))),
    get: (threadId) => answer(threads.get(threadId)),
    create: ({ thread_id, if_exists, ...payload }) =>
      answer(threads.create(asSdk({ ...payload, threadId: thread_id, ifExists: if_exists }))),
    update: (threadId, payload) => answer(threads.update(threadId, asSdk(payload))),
    copy: (threadId, { checkpoint_id } = {}) =>
      checkpoint_id === undefined
        ? answer(threads.copy(threadId))
        : copyFrom(connect({ checkpoint_id }), threadId, checkpoint_id),
    delete: (threadId) => answer(threads.delete(threadId)),
    getState: (threadId, { checkpoint, ...options } = {}) =>
      answer(threads.getState(threadId, asSdk(checkpoint), options)),
    getHistory: (threadId, options) => answer(threads.getHistory(threadId, asSdk(options))),
    updateState: (threadId, { as_node, checkpoint_id, ...options }) =>
      answer(
        threads.updateState(threadId, asSdk({ ...options, asNode: as_node, checkpointId: checkpoint_id })),
      ),
  };
}

/** Other servers ignore `checkpoint_id` and copy the latest state; such a copy is deleted again. */
async function copyFrom({ threads }: Sdk, threadId: string, checkpointId: string): Promise<Thread> {
  const copy = await answer<Thread>(threads.copy(threadId));
  const { checkpoint } = await answer<ThreadState>(threads.getState(copy.thread_id));
  if (checkpoint?.checkpoint_id === checkpointId) return copy;
  await answer(threads.delete(copy.thread_id));
  throw new UnsupportedOptionError(
    "an earlier checkpoint",
    "this server copies only the latest state; use --branch (--in-place) to resume the thread itself from there",
  );
}

interface RunCall {
  sdk: Sdk;
  server: ServerAddress;
  threadId: string;
  request: RunCreateRequest;
  signal: AbortSignal;
}

async function* eventsOfRun({ sdk, server, threadId, request, signal }: RunCall): AsyncGenerator<RunEvent> {
  // The SDK leaves the connection open if the reader stops early.
  const left = new AbortController();
  const payload: object = {
    ...camelCased({ ...RUN_DEFAULTS, ...request }),
    signal: AbortSignal.any([signal, left.signal]),
  };
  try {
    yield* sdk.runs.stream(threadId, request.assistant_id, payload) as AsyncGenerator<RunEvent>;
  } catch (error) {
    const known = refusalIn(error);
    if (known instanceof GraphServeError || signal.aborted) throw known;
    throw unreachable(server, `the response was interrupted: ${errorMessage(error)}`);
  } finally {
    left.abort();
  }
}

/** Converts the names of a run's fields to the SDK's camel case; values stay unchanged. */
function camelCased(request: RunCreateRequest): object {
  return Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
