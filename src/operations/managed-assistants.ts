/** Assistants that clients create, change and delete, with the setting `assistants: "managed"`. */
import type {
  Assistant,
  AssistantCreateRequest,
  AssistantPatchRequest,
  AssistantVersion,
  AssistantVersionsRequest,
} from "../models/assistant.js";
import { DEFAULT_LIMIT } from "../models/common.js";
import { assertFilter } from "../context/request-limits.js";
import { requireTimerRoom } from "../context/timer-limits.js";
import { contains, now } from "../storage/rows/rows.js";
import type { TimerTable } from "../storage/contract/timers.js";
import { GraphServeError, InvalidRequestError, NotFoundError } from "../support/errors.js";
import { canonicalUuid, newId } from "../support/ids.js";
import { isStorable } from "../runs/resumption.js";
import type { EngineContext } from "../runs/live-runs.js";
import { Assistants } from "../threads/assistants.js";
import {
  assistantOf,
  type AssistantRow,
  assistantTable,
  requireAssistant,
} from "../threads/stored-assistants.js";
import { scopeOf, stampScope, withoutScope } from "../threads/thread-origin.js";
import { Threads } from "./threads.js";

/** Maximum versions kept per assistant; the oldest are removed. */
export const MAX_ASSISTANT_VERSIONS = 100;

const PAGE = 100;

export class ManagedAssistants {
  readonly #context: EngineContext;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /**
   * @throws NotFoundError for an unknown graph (`assistant_not_found`), InvalidRequestError (`invalid_request`),
   *   GraphServeError (`assistant_exists`, `unsupported_option`; `too_many_runs` if too many assistants are stored)
   */
  async create(request: AssistantCreateRequest): Promise<Assistant> {
    const { graph_id, name, description, config, context, metadata, if_exists } = request;
    const table = this.#table();
    const graphId = this.#graph(graph_id);
    const id = idOf(request.assistant_id);
    assertStored(request);
    const scope = scopeOf(this.#context);
    await requireTimerRoom(table, { kind: "assistant", scope }, "assistants are stored", "delete some");
    const at = now();
    const first: AssistantVersion = {
      assistant_id: id,
      graph_id: graphId,
      name: name ?? "Untitled",
      description: description ?? null,
      config: config ?? {},
      context: context ?? {},
      metadata: stampScope(this.#context, metadata ?? {}),
      version: 1,
      created_at: at,
    };
    const row: AssistantRow = {
      ...{ kind: "assistant", id, thread_id: null, scope, due_at: null, created_at: at, version: 1 },
      data: { version: 1, updated_at: at, versions: [first] },
    };
    const isFree = this.#context.registry.find(id) === undefined;
    if (isFree && (await table.insert(row))) return assistantOf(row);
    if (if_exists === "do_nothing") {
      const existing = new Assistants(this.#context).get(id);
      return existing.catch((error: unknown) => {
        throw error instanceof NotFoundError ? existsError(id) : error;
      });
    }
    throw existsError(id);
  }

  /** Stores the changes as the next version, which runs use from now on. @throws the errors of `create` */
  async update(assistantId: string, request: AssistantPatchRequest): Promise<Assistant> {
    const { graph_id, name, description, config, context, metadata } = request;
    assertStored(request);
    const graphId = graph_id == null ? undefined : this.#graph(graph_id);
    return this.#change(assistantId, ({ version, versions }, current) => {
      const next: AssistantVersion = {
        ...current,
        ...(graphId !== undefined && { graph_id: graphId }),
        ...(name != null && { name }),
        ...(description != null && { description }),
        ...(config != null && { config }),
        ...(context != null && { context }),
        metadata: { ...current.metadata, ...withoutScope(this.#context, metadata ?? {}) },
        version: Math.max(version, ...versions.map((each) => each.version)) + 1,
        created_at: now(),
      };
      return { version: next.version, versions: [...versions.slice(1 - MAX_ASSISTANT_VERSIONS), next] };
    });
  }

  /** @throws NotFoundError (`assistant_not_found`), InvalidRequestError for an unknown version (`invalid_request`) */
  async setLatest(assistantId: string, version: number): Promise<Assistant> {
    return this.#change(assistantId, ({ versions }) => {
      if (versions.some((each) => each.version === version)) return { version, versions };
      const known = versions.map((each) => each.version).join(", ");
      throw InvalidRequestError.at(["body", "version"], `must be one of the stored versions: ${known}`);
    });
  }

  /** Newest first; an assistant of the configuration has one. @throws NotFoundError (`assistant_not_found`) */
  async versions(assistantId: string, request: AssistantVersionsRequest = {}): Promise<AssistantVersion[]> {
    const { metadata, limit, offset } = request;
    if (metadata) assertFilter(metadata, ["body", "metadata"]);
    const from = offset ?? 0;
    return (await this.#versions(assistantId))
      .filter((each) => metadata == null || contains(each.metadata, metadata))
      .reverse()
      .slice(from, from + (limit ?? DEFAULT_LIMIT));
  }

  async #versions(assistantId: string): Promise<AssistantVersion[]> {
    if (this.#context.registry.find(assistantId) === undefined)
      return (await requireAssistant(this.#context, assistantId)).data.versions;
    const { updated_at: _, ...only } = await new Assistants(this.#context).get(assistantId);
    return [only];
  }

  /**
   * Deletes an assistant; its runs are kept.
   * @param options `delete_threads` also deletes the caller's threads whose last run used the assistant
   * @throws NotFoundError (`assistant_not_found`), ThreadBusyError (`thread_busy`)
   */
  async delete(assistantId: string, { delete_threads = false } = {}): Promise<void> {
    const { id } = await this.#changeable(assistantId);
    if (delete_threads) await this.#deleteThreads(id);
    await this.#table().delete("assistant", id);
  }

  async #deleteThreads(assistant_id: string): Promise<void> {
    const threads = new Threads(this.#context);
    for (;;) {
      const { items } = await threads.search({
        metadata: { assistant_id },
        select: ["thread_id"],
        limit: PAGE,
      });
      for (const { thread_id } of items) if (thread_id !== undefined) await threads.delete(thread_id);
      if (items.length < PAGE) return;
    }
  }

  async #change(
    assistantId: string,
    change: (
      data: AssistantRow["data"],
      current: AssistantVersion,
    ) => Pick<AssistantRow["data"], "version" | "versions">,
  ): Promise<Assistant> {
    for (;;) {
      const row = await this.#changeable(assistantId);
      const { data } = row;
      const current = data.versions.find((each) => each.version === data.version) as AssistantVersion;
      const changed = { ...row, data: { ...data, ...change(data, current), updated_at: now() } };
      // Another request changed the row: read it again.
      if (await this.#table().replace(changed)) return assistantOf(changed);
    }
  }

  async #changeable(assistantId: string): Promise<AssistantRow> {
    this.#table();
    if (this.#context.registry.find(assistantId) === undefined)
      return requireAssistant(this.#context, assistantId);
    throw new GraphServeError(
      "unsupported_option",
      `assistant ${JSON.stringify(assistantId)} comes from the configuration and cannot be changed`,
      { hint: "create an assistant of its graph, and change that one" },
    );
  }

  #graph(graphId: string): string {
    const found = this.#context.registry.ids.find((id) => id === graphId);
    if (found !== undefined) return found;
    throw new NotFoundError("assistant", graphId);
  }

  #table(): TimerTable {
    const table = assistantTable(this.#context);
    if (table) return table;
    const { settings, storage } = this.#context;
    throw settings.assistants === "managed"
      ? new GraphServeError(
          "unsupported_option",
          `assistants cannot be stored: ${storage.scheme} has no timers`,
          {
            hint: "use sqlite, postgres or mongodb, or implement `timers` (TimerTable) in your storage",
          },
        )
      : new GraphServeError("unsupported_option", "clients cannot change assistants", {
          hint: 'set assistants to "managed"',
        });
  }
}

const existsError = (id: string) =>
  new GraphServeError("assistant_exists", `assistant "${id}" already exists`, {
    hint: 'send "if_exists": "do_nothing" to get the existing assistant',
  });

function idOf(given: string | null | undefined): string {
  if (given == null) return newId();
  const id = canonicalUuid(given);
  if (id !== undefined) return id;
  throw InvalidRequestError.at(["body", "assistant_id"], "is not a UUID", "uuid_parsing");
}

/** Rows never contain secrets. */
function assertStored(request: Pick<AssistantPatchRequest, "config" | "context">): void {
  for (const field of ["config", "context"] as const)
    if (!isStorable(request[field]))
      throw InvalidRequestError.at(
        ["body", field],
        "holds a secret, and assistants are stored without secrets: let the graph read it from its environment",
        "not_storable",
      );
}
