/** Everything that can be asked of the service. */
import { Assistants } from "../threads/assistants.js";
import { withParts } from "../context/context.js";
import type { DeadRuns } from "../coordination/dead-runs.js";
import type { Crons } from "../scheduling/crons.js";
import type { EngineContext } from "../runs/live-runs.js";
import type { Protocol } from "./protocol.js";
import { Readiness } from "./readiness.js";
import { Runs } from "./runs.js";
import { States } from "../threads/states.js";
import { StoreItems } from "../threads/store-items.js";
import { storeRoot } from "../threads/thread-origin.js";
import { Threads } from "./threads.js";
import type { Webhooks } from "../webhooks/webhook-list.js";

export type StateReader = Pick<States, "get" | "walkSelected">;

/** The operations of the context's caller; each part is made when it is first asked for. */
export class Operations {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get assistants(): Assistants {
    return this.#keep("assistants", new Assistants(this.#context));
  }

  get threads(): Threads {
    return this.#keep("threads", new Threads(this.#context));
  }

  get state(): States {
    return this.#keep("state", new States(this.#context));
  }

  /** States with what graphs hide from clients, or without, whatever this service shows; to read alone. */
  statesShowing(all: boolean): StateReader {
    return new States(withParts(this.#context, { registry: this.#context.registry.showing(all) }));
  }

  get runs(): Runs {
    return this.#keep("runs", new Runs(this.#context));
  }

  get store(): StoreItems {
    return this.#keep("store", new StoreItems(this.#context.store, storeRoot(this.#context)));
  }

  get readiness(): Readiness {
    return this.#keep("readiness", new Readiness(this.#context));
  }

  /** Loaded for the first who asks for them. */
  get crons(): Promise<Crons> {
    return this.#keep(
      "crons",
      import("../scheduling/crons.js").then(({ Crons }) => new Crons(this.#context)),
    );
  }

  /** As `crons`. */
  get deadRuns(): Promise<DeadRuns> {
    return this.#keep(
      "deadRuns",
      import("../coordination/dead-runs.js").then(({ DeadRuns }) => new DeadRuns(this.#context)),
    );
  }

  /** As `crons`. */
  get webhooks(): Promise<Webhooks> {
    return this.#keep(
      "webhooks",
      import("../webhooks/webhook-list.js").then(({ Webhooks }) => new Webhooks(this.#context)),
    );
  }

  /** Commands to threads and their events, for clients of the newer protocol; loaded for the first of them. */
  get protocol(): Promise<Protocol> {
    const loaded = import("./protocol.js").then(({ Protocol }) => new Protocol(this.#context));
    return this.#keep("protocol", loaded);
  }

  /** From now on the part stands in the place of its getter. */
  #keep<T>(name: keyof Operations, part: T): T {
    Object.defineProperty(this, name, { value: part });
    return part;
  }
}
