/** Studio helpers that need local access: show hidden state keys, and export a thread as a page. */
import { localClient } from "../../client/local.js";
import type { PageHelpers, PageOptions, HelperStateReader } from "../../http/studio/helpers.js";
import type { Shown, StudioFault, StudioHello } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { createRedaction, keepSecrets } from "../../testing/cases/redact.js";
import { replayPage } from "../replay/page.js";
import { stepRange } from "../replay/steps.js";

interface HelperState {
  readonly service: Service;
  /** Environment variables, used to redact secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
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
  readonly #place: string;
  readonly #graphs: readonly string[];

  /** @param options `place` is the project folder, `token` the key of the page */
  constructor(state: HelperState, { token, place }: { token: string; place: string }) {
    super(() => state);
    this.token = token;
    this.#place = place;
    this.#graphs = state.service.graphIds;
  }

  hello(): Promise<StudioHello> {
    const { shows } = this;
    return Promise.resolve({
      place: this.#place,
      shows,
      graphs: [...this.#graphs],
      faults: [],
      reloaded_at: null,
    });
  }

  listen(): () => void {
    return () => undefined;
  }
}
