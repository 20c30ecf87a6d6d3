/** Assistants that clients created: rows, visibility, and the requests that name them. */
import type { Assistant, AssistantVersion } from "../models/assistant.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { RunCreateRequest } from "../models/run.js";
import type { TimerRow, TimerTable } from "../storage/contract/timers.js";
import { NotFoundError } from "../support/errors.js";
import { canonicalUuid } from "../support/ids.js";
import type { OpsContext } from "../context/context.js";
import { timersWhere } from "../context/timers.js";
import { belongsToCaller, scopeOf } from "./thread-origin.js";

interface AssistantData {
  /** Number of the version that runs use. */
  version: number;
  updated_at: string;
  /** Oldest first. */
  versions: AssistantVersion[];
}

export type AssistantRow = TimerRow & { data: AssistantData & JsonObject };

/** Undefined with the setting `assistants: "configured"`, and for a storage without timers. */
export const assistantTable = ({ settings, storage }: OpsContext): TimerTable | undefined =>
  settings.assistants === "managed" ? storage.timers : undefined;

export function assistantOf({ created_at, data }: AssistantRow): Assistant {
  const { version, versions, updated_at } = data;
  return {
    ...(versions.find((each) => each.version === version) as AssistantVersion),
    created_at,
    updated_at,
  };
}

const isVisible = (context: OpsContext, row: AssistantRow): boolean =>
  belongsToCaller(context, { scope: row.scope, metadata: assistantOf(row).metadata });

/** @throws NotFoundError (`assistant_not_found`), also for an assistant of another caller */
export async function requireAssistant(context: OpsContext, assistantId: string): Promise<AssistantRow> {
  const row = await findAssistant(context, assistantId);
  if (row && isVisible(context, row)) return row;
  throw new NotFoundError("assistant", assistantId);
}

/** The assistant of any caller. */
export async function findAssistant(
  context: OpsContext,
  assistantId: string,
): Promise<AssistantRow | undefined> {
  const id = canonicalUuid(assistantId);
  if (id === undefined) return undefined;
  return (await assistantTable(context)?.get("assistant", id)) as AssistantRow | undefined;
}

/** The assistants that clients created and the caller can see, oldest first. */
export async function ownAssistants(context: OpsContext): Promise<Assistant[]> {
  const table = assistantTable(context);
  if (!table) return [];
  const { caller } = context;
  // A filter on metadata also matches rows of other scopes.
  const scope = caller && caller.owner === undefined ? (scopeOf(context) ?? undefined) : undefined;
  return timersWhere({ table }, { kind: "assistant", scope }, (row) =>
    isVisible(context, row as AssistantRow) ? assistantOf(row as AssistantRow) : undefined,
  );
}

interface Called {
  graphId: string;
  assistantId: string;
  /** The request with the config, context and metadata of the assistant; those of the request take precedence. */
  request: RunCreateRequest;
}

/** A run request that names an assistant which a client created. @throws NotFoundError (`assistant_not_found`) */
export async function callAs(context: OpsContext, request: RunCreateRequest): Promise<Called> {
  const { assistant_id, graph_id, ...own } = assistantOf(
    await requireAssistant(context, request.assistant_id),
  );
  const config = { ...own.config, ...request.config };
  const configurable = merged(own.config.configurable, request.config?.configurable);
  return {
    graphId: context.registry.resolve(graph_id),
    assistantId: assistant_id,
    request: {
      ...request,
      assistant_id,
      ...(Object.keys(config).length > 0 && { config: { ...config, ...(configurable && { configurable }) } }),
      context: merged(own.context, request.context),
      metadata: merged(own.metadata, request.metadata),
    },
  };
}

/** Undefined if both are empty. Values that are not objects are left to the checks of the request. */
function merged(defaults: unknown, given: unknown): JsonObject | undefined {
  if (given != null && !isRecord(given)) return given as JsonObject;
  const both = { ...(isRecord(defaults) && defaults), ...given };
  return Object.keys(both).length > 0 || given != null ? both : undefined;
}

/** The assistant of a thread's last run; its graph if the assistant was deleted. */
export async function assistantOfThread(
  context: OpsContext,
  { metadata }: { metadata: JsonObject },
): Promise<string> {
  const { assistant_id } = metadata;
  const row = typeof assistant_id === "string" ? await findAssistant(context, assistant_id) : undefined;
  return row && isVisible(context, row) ? row.id : context.registry.graphIdOf(metadata);
}
