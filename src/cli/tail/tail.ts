/** `runs tail`: prints what a server runs, or what the processes of a storage run, until it is stopped. */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "../../client/client.js";
import { GraphServeError } from "../../support/errors.js";
import { escapeControl } from "../../view/text.js";
import { stepOf } from "../run/outcome.js";
import { RunLines } from "../run/run-lines.js";
import { clientOf, projectServer } from "../session/open-client.js";
import type { ClientFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { abortOnStop } from "../session/stop.js";
import type { Printer } from "../terminal/print.js";
import { RunFollower, type TailEvent } from "./follow-runs.js";

/** Interval of looks while runs are executed: their nodes are not changes that a server reports. */
const INTERVAL_MS = 500;
/** The same while no run is executed and the server reports changes. */
const IDLE_MS = 10_000;

/**
 * Follows the server of `--url`, else the dev server of this project, else the storage.
 * @throws GraphServeError (`server_unreachable`), StorageUnavailableError, only before it follows
 */
export async function tailRuns(session: Session, flags: ClientFlags): Promise<number> {
  const { print, io } = session;
  const stop = abortOnStop(io);
  let client: Client | undefined;
  const lines = print.isJson ? undefined : linesOf(session, flags, () => client);
  const follower = new RunFollower((event) => show(print, lines, event));
  const changes = new ChangeSignal();
  const look = async () => {
    client ??= await clientToFollow(session, flags);
    changes.follow(client);
    if (lines) lines.url = client.url;
    await follower.poll(client);
    return client.place;
  };
  try {
    print.note(`following the runs of ${await look()}; Ctrl-C stops`);
    let isLost = false;
    while (await changes.next(follower.isIdle, stop.signal)) {
      try {
        const place = await look();
        if (isLost) print.note(`reconnected to ${place}`);
        isLost = false;
      } catch (error) {
        if (!mayReturn(error)) throw error;
        if (!isLost) print.warn(`${error.message}; retrying until it answers`);
        isLost = true;
        await client?.close();
        client = undefined;
      }
    }
  } finally {
    stop.dispose();
    changes.close();
    await client?.close();
  }
  return 0;
}

/** Resolved again after a failure: another server may run now, at another address. */
async function clientToFollow(session: Session, flags: ClientFlags): Promise<Client> {
  const url = flags.url ?? (await projectServer(session, flags));
  return clientOf(session, { ...flags, ...(url !== undefined && { url }) });
}

/** When to look again: after a change that the server reports, or else after an interval. */
class ChangeSignal {
  #client: Client | undefined;
  #isLive = false;
  #changed = new AbortController();
  readonly #closed = new AbortController();

  /** Opens the stream of a client, once; again only if a stream that worked has ended. */
  follow(client: Client): void {
    if (client === this.#client || !client.changes) return;
    this.#client = client;
    void this.#read(client.changes(this.#closed.signal));
  }

  async #read(stream: AsyncIterable<void>): Promise<void> {
    try {
      for await (const _ of stream) {
        this.#isLive = true;
        this.#changed.abort();
      }
    } catch {
      // A failure of the server is reported by the next look; servers without this stream are polled.
    }
    if (this.#isLive) this.#client = undefined;
    this.#isLive = false;
    this.#changed.abort();
  }

  /** Waits for the next look. False when `stop` aborts. */
  async next(isIdle: boolean, stop: AbortSignal): Promise<boolean> {
    if (!isIdle || !this.#isLive) return passed(INTERVAL_MS, stop);
    await passed(IDLE_MS, AbortSignal.any([stop, this.#changed.signal]));
    this.#changed = new AbortController();
    return !stop.aborted;
  }

  close(): void {
    this.#closed.abort();
  }
}

/** False when `signal` aborts. */
async function passed(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

const RESTARTING = new Set(["server_unreachable", "shutting_down", "server_busy", "storage_unavailable"]);

/** Whether a server or a storage fails this way while it restarts. */
const mayReturn = (error: unknown): error is GraphServeError =>
  error instanceof GraphServeError && RESTARTING.has(error.code);

function linesOf(
  { print, flags: globals }: Session,
  flags: ClientFlags,
  client: () => Client | undefined,
): RunLines {
  const output = {
    write: (line: string) => print.data(print.asCalled(line)),
    colors: print.colors,
    isShort: print.isTerminal,
    showsErrors: true,
  };
  const lines = new RunLines(output, { ...globals, ...flags });
  lines.stepOf = async (threadId) => {
    const state = await client()?.threads.getState(threadId);
    return state && stepOf(state);
  };
  return lines;
}

function show(print: Printer, lines: RunLines | undefined, event: TailEvent): void {
  if (!lines) print.data(escapeControl(JSON.stringify(documentOf(event))));
  else if (event.kind === "deleted") lines.showDeleted(event.run);
  else lines.show(event);
}

/** One line of `--json`. */
function documentOf(event: TailEvent): object {
  const { run_id, thread_id, metadata, assistant_id, created_at, status, error, usage, updated_at } =
    event.run;
  const ids = { run_id, thread_id };
  switch (event.kind) {
    case "begin":
      return { event: "start", ...ids, graph_id: metadata.graph_id ?? null, assistant_id, created_at };
    case "node": {
      const { path, ms, state, tokens } = event;
      return { event: "node", ...ids, path, ms, state, tokens };
    }
    case "end":
      return {
        ...{ event: "end", ...ids, status, error, ms: event.ms, usage },
        ...{ interrupts: event.interrupts, ended_at: updated_at },
      };
    case "deleted":
      return { event: "deleted", ...ids };
  }
}
