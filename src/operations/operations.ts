import { Assistants } from "../threads/assistants.js";
import { withParts } from "../context/context.js";
import { DeadRuns } from "../coordination/dead-runs.js";
import { Crons } from "../scheduling/crons.js";
import type { FrameStream } from "../models/run-stream.js";
import type { EngineContext } from "../runs/live-runs.js";
import { ManagedAssistants } from "./managed-assistants.js";
import { Protocol } from "./protocol.js";
import { Readiness } from "./readiness.js";
import { Runs } from "./runs.js";
import { States } from "../threads/states.js";
import { StoreItems } from "../threads/store-items.js";
import { scopeOf, storeRoot } from "../threads/thread-origin.js";
import { Threads } from "./threads.js";
import { Versions } from "./versions.js";
import type { Page } from "../models/common.js";
import type { NodeUsageFilter, NodeUsageSums, Usage, UsageFilter } from "../models/usage.js";
import { listUsage } from "../storage/usage-list.js";
import { sumByNode } from "./node-usage.js";
import { Webhooks } from "../webhooks/webhook-list.js";

export type StateReader = Pick<States, "get" | "walkSelected">;

/** All operations of the service on behalf of the context's caller. Each part is created on first use. */
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

  /** States, read-only, with or without the keys that graphs hide from clients, regardless of the service options. */
  statesShowing(all: boolean): StateReader {
    return new States(withParts(this.#context, { registry: this.#context.registry.showing(all) }));
  }

  /** A stream of the changes to the caller's threads and runs. @throws GraphServeError (`too_many_streams`) */
  async changes(): Promise<FrameStream> {
    const { streamChanges } = await import("../delivery/changes.js");
    return streamChanges(this.#context);
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

  /** Usage of models, in groups; that of the caller only. @throws GraphServeError (`unsupported_option`) */
  usage(filter: UsageFilter = {}): Promise<Page<Usage>> {
    return listUsage(this.#context.storage, filter, scopeOf(this.#context) ?? undefined);
  }

  /** @internal */
  usageByNode(filter: NodeUsageFilter): Promise<NodeUsageSums> {
    return sumByNode(this.#context, filter);
  }

  get managedAssistants(): ManagedAssistants {
    return this.#keep("managedAssistants", new ManagedAssistants(this.#context));
  }

  get crons(): Crons {
    return this.#keep("crons", new Crons(this.#context));
  }

  get deadRuns(): DeadRuns {
    return this.#keep("deadRuns", new DeadRuns(this.#context));
  }

  /** @internal */
  get versions(): Versions {
    return this.#keep("versions", new Versions(this.#context));
  }

  get webhooks(): Webhooks {
    return this.#keep("webhooks", new Webhooks(this.#context));
  }

  /** Thread commands and events, for clients of the newer protocol. */
  get protocol(): Protocol {
    return this.#keep("protocol", new Protocol(this.#context));
  }

  /** Replaces the getter by the part. */
  #keep<T>(name: keyof Operations, part: T): T {
    Object.defineProperty(this, name, { value: part });
    return part;
  }
}
