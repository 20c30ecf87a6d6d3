/** Assistants: the default one, or one per graph (docs/specification.md#assistants). */
import { drawGraph, type DrawOptions, subgraphSchemas } from "../graphs/draw.js";
import { clientSchemas } from "../graphs/visible-schemas.js";
import {
  ASSISTANT_FIELDS,
  type Assistant,
  type AssistantCountRequest,
  type AssistantSearchRequest,
  type GraphDrawing,
  type GraphSchema,
  type SubgraphSchemas,
} from "../models/assistant.js";
import { DEFAULT_LIMIT, type Page } from "../models/common.js";
import { contains } from "../storage/rows/rows.js";
import type { OpsContext } from "../context/context.js";
import { pageResult, selectFields } from "./thread-search.js";
import { assertFilter } from "../context/request-limits.js";

export class Assistants {
  readonly #context: OpsContext;
  readonly #created: string;

  constructor(context: OpsContext) {
    this.#context = context;
    this.#created = context.registry.loadedAt.toISOString();
  }

  #assistant(graphId: string): Assistant {
    const { registry, settings } = this.#context;
    const isDefault = graphId === registry.defaultId;
    return {
      assistant_id: registry.uuidOf(graphId),
      graph_id: graphId,
      name: (isDefault ? settings.assistant_name : undefined) ?? graphId,
      description:
        (isDefault ? settings.assistant_description : undefined) ??
        settings.graph_descriptions?.[graphId] ??
        null,
      config: {},
      context: {},
      metadata: { created_by: "system" },
      version: 1,
      created_at: this.#created,
      updated_at: registry.loadedAt.toISOString(),
    };
  }

  #matching({ graph_id, name, metadata }: AssistantCountRequest): Assistant[] {
    if (metadata) assertFilter(metadata, ["body", "metadata"]);
    return this.#context.registry.assistants
      .map((graphId) => this.#assistant(graphId))
      .filter(
        (assistant) =>
          (graph_id == null || assistant.graph_id === graph_id) &&
          (name == null || assistant.name.toLowerCase().includes(name.toLowerCase())) &&
          (metadata == null || contains(assistant.metadata, metadata)),
      );
  }

  /** Assistants that match the filters. Only the default one is searched, unless the setting `list_all_assistants` is on. */
  async search(request: AssistantSearchRequest): Promise<Page<Partial<Assistant>>> {
    const matching = sorted(this.#matching(request), request);
    const offset = request.offset ?? 0;
    const items = matching.slice(offset, offset + (request.limit ?? DEFAULT_LIMIT));
    const selected = items.map((item) => selectFields(item, request.select, ASSISTANT_FIELDS));
    return pageResult(selected, matching.length, offset);
  }

  async count(request: AssistantCountRequest): Promise<number> {
    return this.#matching(request).length;
  }

  /**
   * Returns an assistant by id. The id of any configured graph is accepted, also if the graph is not listed.
   * @throws NotFoundError (`assistant_not_found`)
   */
  async get(assistantId: string): Promise<Assistant> {
    return this.#assistant(this.#context.registry.resolve(assistantId));
  }

  /** @throws NotFoundError (`assistant_not_found`) */
  async schemas(assistantId: string): Promise<GraphSchema> {
    const { registry } = this.#context;
    const graphId = registry.resolve(assistantId);
    const { graph, filter } = await registry.graph(graphId, "assistants.read");
    return clientSchemas(graph, graphId, filter);
  }

  /** @throws NotFoundError (`assistant_not_found`), InvalidRequestError for an unknown subgraph (`invalid_request`) */
  async draw(assistantId: string, options: DrawOptions): Promise<GraphDrawing> {
    const { registry } = this.#context;
    return drawGraph((await registry.graph(registry.resolve(assistantId), "assistants.read")).graph, options);
  }

  /**
   * Schemas of all subgraphs by namespace, or of the subgraph `namespace` only. Empty if there is no such subgraph.
   * @throws NotFoundError (`assistant_not_found`)
   */
  async subgraphs(
    assistantId: string,
    options: { recurse: boolean; namespace?: string },
  ): Promise<SubgraphSchemas> {
    const { registry } = this.#context;
    const graphId = registry.resolve(assistantId);
    return subgraphSchemas(await registry.graph(graphId, "assistants.read"), graphId, options);
  }
}

/** Sorts by `sort_by`, descending by default. Without `sort_by` the default assistant comes first. */
function sorted(assistants: Assistant[], { sort_by, sort_order }: AssistantSearchRequest): Assistant[] {
  if (sort_by == null) return assistants;
  const sign = sort_order === "asc" ? 1 : -1;
  return assistants.sort((a, b) => (a[sort_by] < b[sort_by] ? -sign : a[sort_by] > b[sort_by] ? sign : 0));
}
