/** A service with canned responses for tests of the HTTP layer. Each test overrides what it needs. */
import { defaultSettings, type Settings } from "../../src/config/settings.js";
import { silentLogger, type Logger } from "../../src/support/log.js";
import type { Assistant, GraphSchema } from "../../src/models/assistant.js";
import type { Run } from "../../src/models/run.js";
import type { CheckpointConfig, ThreadState } from "../../src/models/state.js";
import type { Thread } from "../../src/models/thread.js";
import type { Assistants } from "../../src/threads/assistants.js";
import type { Readiness } from "../../src/operations/readiness.js";
import type { Runs } from "../../src/operations/runs.js";
import type { States } from "../../src/threads/states.js";
import type { Threads } from "../../src/operations/threads.js";
import type { RunFrame, RunStream } from "../../src/models/run-stream.js";
import type { Service } from "../../src/service/service.js";

export const THREAD_ID = "0197f0a0-0000-7000-8000-000000000001";
export const RUN_ID = "0197f0a0-0000-7000-8000-000000000002";
const ASSISTANT_ID = "9895dc6d-96f3-5a27-8432-192c5d96f390";
const NOW = "2025-07-01T12:00:00.000Z";

export const someThread: Thread = {
  thread_id: THREAD_ID,
  created_at: NOW,
  updated_at: NOW,
  state_updated_at: null,
  metadata: {},
  config: {},
  status: "idle",
  values: {},
  interrupts: {},
  error: null,
  ttl: null,
};

export const someRun: Run = {
  run_id: RUN_ID,
  thread_id: THREAD_ID,
  assistant_id: "agent",
  created_at: NOW,
  updated_at: NOW,
  status: "success",
  metadata: {},
  kwargs: {},
  multitask_strategy: "enqueue",
  error: null,
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
  attempt: 1,
};

const someCheckpoint: CheckpointConfig = {
  thread_id: THREAD_ID,
  checkpoint_ns: "",
  checkpoint_id: "1f000000-0000-6000-8000-000000000001",
  checkpoint_map: null,
};

export const someState: ThreadState = {
  values: {},
  next: [],
  tasks: [],
  checkpoint: someCheckpoint,
  metadata: {},
  created_at: NOW,
  parent_checkpoint: null,
  interrupts: [],
};

const someAssistant: Assistant = {
  assistant_id: ASSISTANT_ID,
  graph_id: "agent",
  name: "agent",
  description: null,
  config: {},
  context: {},
  metadata: {},
  version: 1,
  created_at: NOW,
  updated_at: NOW,
};

const someSchemas: GraphSchema = {
  graph_id: "agent",
  input_schema: null,
  output_schema: null,
  state_schema: null,
  config_schema: null,
  context_schema: null,
};

/** A stream of these batches. `disconnect` counts its calls. */
export function someStream(
  batches: Iterable<readonly RunFrame[]> | AsyncIterable<readonly RunFrame[]>,
): RunStream & {
  readonly disconnects: number;
} {
  let disconnects = 0;
  return {
    run: someRun,
    frames: (async function* () {
      yield* batches;
    })(),
    disconnect: () => void disconnects++,
    resumable: false,
    get disconnects() {
      return disconnects;
    },
  };
}

/** A lazy list, as operations return it for long results. */
export async function* lazy<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

export interface FakeParts {
  settings?: Partial<Settings>;
  logger?: Logger;
  assistants?: Partial<Assistants>;
  threads?: Partial<Threads>;
  state?: Partial<States>;
  runs?: Partial<Runs>;
  readiness?: Partial<Readiness>;
  close?: Service["close"];
}

export function fakeService(parts: FakeParts = {}): Service {
  const fake = {
    settings: { ...defaultSettings(), ...parts.settings },
    logger: parts.logger ?? silentLogger,
    assistants: {
      search: async () => ({ items: [someAssistant], total: 1, next: null }),
      count: async () => 1,
      get: async () => someAssistant,
      schemas: async () => someSchemas,
      draw: async () => ({ nodes: [], edges: [] }),
      subgraphs: async () => ({}),
      ...parts.assistants,
    },
    threads: {
      create: async () => someThread,
      find: async () => ({ items: lazy([someThread]), total: 1, next: null }),
      count: async () => 1,
      get: async () => someThread,
      update: async () => someThread,
      delete: async () => undefined,
      copy: async () => someThread,
      ...parts.threads,
    },
    state: {
      get: async () => someState,
      update: async () => ({ ...someCheckpoint, checkpoint: someCheckpoint, configurable: someCheckpoint }),
      walkSelected: () => lazy([someState]),
      ...parts.state,
    },
    runs: {
      create: async () => someRun,
      stream: async () => someStream([[{ id: 0, event: "end", data: "{}" }]]),
      list: async () => [someRun],
      walk: () => lazy([someRun]),
      get: async () => someRun,
      ...parts.runs,
    },
    readiness: { check: async () => ({ clock: undefined }), ...parts.readiness },
    info: () => ({
      status: "ok",
      name: "graph-serve",
      version: "0.0.0",
      langgraph_js_version: "1.4.18",
      context: "js",
      flags: {},
      body_limit: 1024,
    }),
    initialMessage: () => ({ message: "hi", version: "0.0.0" }),
    graphs: async () => [],
    reload: async () => undefined,
    watchedFiles: () => [],
    close: parts.close ?? (async () => undefined),
  };
  // Service is a class with private members; the HTTP layer uses only its public ones.
  return fake as unknown as Service;
}
