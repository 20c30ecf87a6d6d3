/** What the terminal's Studio can do with a thread: show what its graph hides, and write it as one file. */
import { localClient } from "../../client/local.js";
import type { PageHelpers, PageOptions, HelperStateReader } from "../../http/studio/helpers.js";
import type { Shown, StudioHello } from "../../models/studio.js";
import type { Service } from "../../service/service.js";
import { createRedaction, keepSecrets } from "../../testing/cases/redact.js";
import { replayPage } from "../replay/page.js";
import { stepRange } from "../replay/steps.js";

interface Told {
  readonly service: Service;
  /** Variables, of which some are secret. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export abstract class ThreadHelpers {
  /** What the service shows by itself. */
  protected abstract readonly shows: Shown;
  readonly #told: () => Told;

  constructor(told: () => Told) {
    this.#told = told;
  }

  otherStates(): HelperStateReader {
    return this.#told().service.statesShowing(this.shows === "clients");
  }

  async *page(threadId: string, options: PageOptions): AsyncGenerator<string> {
    const { service, env } = this.#told();
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

  /** `place` is the project's folder; `token` the key of the page. */
  constructor(told: Told, { token, place }: { token: string; place: string }) {
    super(() => told);
    this.token = token;
    this.#place = place;
    this.#graphs = told.service.graphIds;
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
