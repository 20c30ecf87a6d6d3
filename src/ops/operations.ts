/** Everything that can be asked of the service. */
import { Assistants } from "./assistants.js";
import type { EngineContext } from "./live-runs.js";
import { Readiness } from "./readiness.js";
import { Runs } from "./runs.js";
import { States } from "./states.js";
import { StoreItems } from "./store-items.js";
import { storeRoot } from "./thread-origin.js";
import { Threads } from "./threads.js";

/** The operations of the context's caller; each part is made when it is first asked for. */
export class Operations {
  readonly #context: EngineContext;
  #assistants: Assistants | undefined;
  #threads: Threads | undefined;
  #state: States | undefined;
  #runs: Runs | undefined;
  #store: StoreItems | undefined;
  #readiness: Readiness | undefined;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get assistants(): Assistants {
    return (this.#assistants ??= new Assistants(this.#context));
  }

  get threads(): Threads {
    return (this.#threads ??= new Threads(this.#context));
  }

  get state(): States {
    return (this.#state ??= new States(this.#context));
  }

  get runs(): Runs {
    return (this.#runs ??= new Runs(this.#context));
  }

  get store(): StoreItems {
    return (this.#store ??= new StoreItems(this.#context.store, storeRoot(this.#context)));
  }

  get readiness(): Readiness {
    return (this.#readiness ??= new Readiness(this.#context));
  }
}
