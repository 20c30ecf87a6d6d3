/** What shadowed threads may call: recorded responses of models and tools, and no network unless calls are real. */
import { Socket } from "node:net";
import type { Redact } from "../cases/redact.js";
import { findId, onLibraryCopies, patchLibrary } from "../recording/patch.js";
import { type RecordedCall, StoredRecording } from "../recording/recording.js";

/**
 * `recorded` answers calls of models and tools from recordings, and refuses all others; `live` executes all calls;
 * `hybrid` executes those that are not recorded.
 */
export type ModelMode = "recorded" | "live" | "hybrid";

/** Reads recordings. */
export interface RecordedRuns {
  /** The calls of a run; undefined if it is not recorded. */
  read: (threadId: string, runId: string) => Promise<RecordedCall[] | undefined>;
  /** Name of the recording of a run, for messages. */
  nameOf: (runId: string) => string;
}

interface CallsOptions {
  mode: ModelMode;
  recorded: RecordedRuns;
  redact: Redact;
}

interface Guarded {
  recording: StoredRecording | undefined;
  refuse: (message: string) => void;
}

export class ShadowCalls {
  readonly #options: CallsOptions;
  readonly #threads = new Map<string, Guarded>();
  #restores: (() => void)[] = [];

  constructor(options: CallsOptions) {
    this.#options = options;
    onLibraryCopies();
  }

  /** Call after the first graph is loaded, because it determines the copy of the library. */
  async prepare(): Promise<void> {
    if (this.#restores.length > 0 || this.#options.mode === "live") return;
    const find = (hints: readonly unknown[]) => this.#threads.get(findId("thread_id", hints) ?? "");
    this.#restores.push(await patchLibrary((hints) => find(hints)?.recording));
    if (this.#options.mode !== "recorded") return;
    const { AsyncLocalStorageProviderSingleton: provider } = await import("@langchain/core/singletons");
    this.#restores.push(guardSockets(() => find([provider.getRunnableConfig()])?.refuse));
  }

  close(): void {
    for (const restore of this.#restores.splice(0)) restore();
  }

  /**
   * Starts to answer the calls on a thread from the recordings of these runs.
   * @param onRefused called with the first refused call of a model or a tool
   */
  async begin(threadId: string, runIds: readonly string[], onRefused: () => void): Promise<GuardedCalls> {
    const { mode, recorded, redact } = this.#options;
    if (mode === "live") return { end: () => undefined };
    const refused: string[] = [];
    const caseName = runIds.at(-1) ?? "";
    const recording = new StoredRecording(await callsOf(recorded, threadId, runIds, caseName), {
      ...{ caseName, file: recorded.nameOf(caseName), redact },
      ...{ callsFakes: true, callsUnrecorded: mode === "hybrid" },
      remedy: "record runs, or execute its calls with --models live or hybrid",
      onRefused({ message }) {
        refused.unshift(message);
        onRefused();
      },
    });
    this.#threads.set(threadId, { recording, refuse: (message) => void refused.push(message) });
    return {
      end: () => {
        this.#threads.delete(threadId);
        return refused[0];
      },
    };
  }
}

export interface GuardedCalls {
  /** Stops answering; returns the first refused call. */
  end(): string | undefined;
}

/** The recorded calls of these runs; undefined if none is recorded. */
async function callsOf(
  { read }: RecordedRuns,
  threadId: string,
  runIds: readonly string[],
  caseName: string,
) {
  const found = await Promise.all(runIds.map((id) => read(threadId, id)));
  if (found.every((calls) => calls === undefined)) return undefined;
  return found.flatMap((calls) => calls ?? []).map((call) => ({ ...call, case: caseName }));
}

type Connect = (this: Socket, ...args: unknown[]) => Socket;

/** Refuses new connections of code for which `refusal` returns a function, which receives the reason. */
function guardSockets(refusal: () => ((message: string) => void) | undefined): () => void {
  const target = Socket.prototype as unknown as { connect: Connect };
  const { connect } = target;
  target.connect = function guarded(...args) {
    const refuse = refusal();
    if (!refuse) return connect.apply(this, args);
    const message = `a node opens a connection to ${addressOf(args)}, which --models recorded refuses`;
    refuse(message);
    process.nextTick(() => this.destroy(new Error(message)));
    return this;
  };
  return () => {
    target.connect = connect;
  };
}

function addressOf(args: readonly unknown[]): string {
  // `net.connect` passes its normalized arguments as one list.
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first !== "object" || first === null) return [second, first].filter(Boolean).join(":");
  const { host, port, path } = first as { host?: string; port?: number; path?: string };
  return path ?? `${host ?? "localhost"}:${port ?? "?"}`;
}
