/**
 * Replays runs for the Studio of `dev`: runs them again from their start, on a copy of the thread. With a recording, no
 * model is called; without one, everything is executed again.
 */
import { readdir } from "node:fs/promises";
import { basename } from "node:path";
import { localClient } from "../../client/local.js";
import { RunSoFar } from "../../client/run-events.js";
import type { Client } from "../../client/client.js";
import type { ReplayRequest } from "../../http/studio/helpers.js";
import type { Run } from "../../models/run.js";
import type { ReplayOf, StudioReplay } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { errorMessage } from "../../support/errors/thrown.js";
import { answerFromTranscripts, type Playing } from "../../testing/recording/recorder.js";
import { createRedaction } from "../../testing/cases/redact.js";
import { fork } from "../fork/branch.js";
import { type AgainRequest, beginningOfRun, tipOf } from "../replay/last-run.js";

interface Project {
  readonly service: Service;
  readonly transcripts: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Time to live of a copy after its run, in minutes. */
const TTL_MINUTES = 1440;

/** Ids of the recorded runs. */
export async function recordedRuns({ transcripts }: Pick<Project, "transcripts">): Promise<string[]> {
  const names = await readdir(transcripts).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => basename(name, ".jsonl"));
}

export class Replays {
  readonly #known = new Map<string, StudioReplay>();

  /** The replay on this thread, if this process started it. */
  of(threadId: string): StudioReplay | undefined {
    return this.#known.get(threadId);
  }

  /**
   * Copies the thread as of the start of the run and starts the same request there. Returns while it is running.
   * @throws NotFoundError (`run_not_found`, `assistant_not_found`)
   * @throws InvalidRequestError if the run is not recorded, or its start is no longer stored (`invalid_request`)
   */
  async start(
    project: Project,
    { thread_id, run_id, recorded = false }: ReplayRequest,
  ): Promise<StudioReplay> {
    const { service } = project;
    const client = localClient(service);
    const run = await service.runs.get(thread_id, run_id);
    const beginning = await beginningOfRun(client, run);
    const { thread } = await fork(client, beginning.state, { branch: false, afresh: true });
    const copy = thread.thread_id;
    let playing: Playing | undefined;
    try {
      if (recorded) {
        const redact = createRedaction(project.env);
        playing = await answerFromTranscripts(copy, beginning.runIds, {
          folder: project.transcripts,
          redact,
        });
      }
      const checkpoint_id = (await tipOf(client, run)) ?? beginning.state.checkpoint?.checkpoint_id ?? "";
      const of: ReplayOf = { thread_id, run_id, checkpoint_id, recorded };
      await client.threads.update(copy, { metadata: { replay_of: { ...of } }, ttl: TTL_MINUTES });
      const replay: StudioReplay = { thread_id: copy, of, status: "running", error: null, differences: [] };
      this.#known.set(copy, replay);
      await this.#play(client, replay, run, beginning.requests, playing);
      return replay;
    } catch (error) {
      playing?.end(false);
      this.#known.delete(copy);
      await client.threads.delete(copy);
      throw error;
    }
  }

  /** Resolves when the first run has started. @throws if the run is rejected */
  #play(
    client: Client,
    replay: StudioReplay,
    run: Run,
    requests: readonly AgainRequest[],
    playing: Playing | undefined,
  ): Promise<void> {
    return new Promise((begun, refused) => {
      const done = (last: RunSoFar | undefined, error?: unknown) => {
        const isFine = error === undefined && last?.error === undefined;
        replay.differences = (playing?.end(isFine) ?? []).map(({ message, expected, actual }) => ({
          message,
          expected: expected ?? null,
          actual: actual ?? null,
        }));
        replay.error = error === undefined ? (last?.error ?? null) : errorMessage(error);
        replay.status = error === undefined ? (last?.status ?? "error") : "error";
      };
      runThrough(client, replay.thread_id, run, requests, begun).then(done, (error: unknown) => {
        done(undefined, error);
        refused(error instanceof Error ? error : new Error(errorMessage(error)));
      });
    });
  }
}

/** Runs the requests one by one, as long as the thread is interrupted. */
async function runThrough(
  client: Client,
  threadId: string,
  { assistant_id }: Run,
  requests: readonly AgainRequest[],
  onBegun: () => void,
): Promise<RunSoFar | undefined> {
  let last: RunSoFar | undefined;
  for (const request of requests.length > 0 ? requests : [{}]) {
    if (last && last.interrupts.length === 0) break;
    last = new RunSoFar();
    const body = {
      assistant_id,
      ...request,
      if_not_exists: "reject" as const,
      on_disconnect: "continue" as const,
      stream_mode: ["values" as const],
    };
    for await (const event of client.runs.stream(threadId, body, new AbortController().signal)) {
      last.take(event);
      onBegun();
    }
  }
  return last;
}
