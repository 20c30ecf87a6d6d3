/** Studio helpers that need local access: show hidden state keys, and export a thread as a page. */
import { localClient } from "../../client/local.js";
import type { PageHelpers, PageOptions, HelperStateReader } from "../../http/studio/helpers.js";
import type { Shown, StudioFault, StudioHello, StudioShadow } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { createRedaction, keepSecrets } from "../../testing/cases/redact.js";
import { replayPage } from "../replay/page.js";
import { stepRange } from "../replay/steps.js";
import { hasSavedShadow, savedShadow } from "../shadow/saved.js";

interface HelperState {
  readonly service: Service;
  /** Environment variables, used to redact secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folder of the project. */
  readonly baseDir: string;
}

export abstract class ThreadHelpers {
  /** The state keys that the service shows by default. */
  protected abstract readonly shows: Shown;
  readonly #state: () => HelperState;

  constructor(state: () => HelperState) {
    this.#state = state;
  }

  otherStates(): HelperStateReader {
    return this.#state().service.statesShowing(this.shows === "clients");
  }

  fault(threadId: string, runId: string): Promise<StudioFault | undefined> {
    return this.#state().service.runs.fault(threadId, runId);
  }

  shadow(): Promise<StudioShadow | null> {
    return savedShadow(this.#state().baseDir);
  }

  async *page(threadId: string, options: PageOptions): AsyncGenerator<string> {
    const { service, env } = this.#state();
    const client = localClient(service);
    const thread = await client.threads.get(threadId);
    const redact = options.keepsSecrets ? keepSecrets : createRedaction(env);
    yield* replayPage({ thread, place: client.place }, stepRange(client, thread.thread_id, {}), redact);
  }
}

/** For a read-only storage, whose service shows all state keys. */
export class StorageHelpers extends ThreadHelpers implements PageHelpers {
  protected readonly shows = "all";
  readonly token: string;
  readonly #baseDir: string;
  readonly #graphs: readonly string[];

  /** @param token the key of the page */
  constructor(state: HelperState, token: string) {
    super(() => state);
    this.token = token;
    this.#baseDir = state.baseDir;
    this.#graphs = state.service.graphIds;
  }

  hello(): Promise<StudioHello> {
    const { shows } = this;
    return Promise.resolve({
      place: this.#baseDir,
      shows,
      graphs: [...this.#graphs],
      faults: [],
      reloaded_at: null,
      loads: null,
      has_shadow: hasSavedShadow(this.#baseDir),
    });
  }

  listen(): () => void {
    return () => undefined;
  }
}
