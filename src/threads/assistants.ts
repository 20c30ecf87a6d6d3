/** Assistants: the default one, or one per graph, and those that clients created (docs/specification.md#assistants). */
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
import { assistantOf, ownAssistants, requireAssistant } from "./stored-assistants.js";
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

  async #matching({ graph_id, name, metadata }: AssistantCountRequest): Promise<Assistant[]> {
    if (metadata) assertFilter(metadata, ["body", "metadata"]);
    return this.#context.registry.assistants
      .map((graphId) => this.#assistant(graphId))
      .concat(await ownAssistants(this.#context))
      .filter(
        (assistant) =>
          (graph_id == null || assistant.graph_id === graph_id) &&
          (name == null || assistant.name.toLowerCase().includes(name.toLowerCase())) &&
          (metadata == null || contains(assistant.metadata, metadata)),
      );
  }

  /** Assistants that match the filters. Of the graphs, only the default one is searched, unless the setting `list_all_assistants` is on. */
  async search(request: AssistantSearchRequest): Promise<Page<Partial<Assistant>>> {
    const matching = sorted(await this.#matching(request), request);
    const offset = request.offset ?? 0;
    const items = matching.slice(offset, offset + (request.limit ?? DEFAULT_LIMIT));
    const selected = items.map((item) => selectFields(item, request.select, ASSISTANT_FIELDS));
    return pageResult(selected, matching.length, offset);
  }

  async count(request: AssistantCountRequest): Promise<number> {
    return (await this.#matching(request)).length;
  }

  /**
   * Returns an assistant by id. The id of any configured graph is accepted, also if the graph is not listed.
   * @throws NotFoundError (`assistant_not_found`)
   */
  async get(assistantId: string): Promise<Assistant> {
    const graphId = this.#context.registry.find(assistantId);
    return graphId === undefined
      ? assistantOf(await requireAssistant(this.#context, assistantId))
      : this.#assistant(graphId);
  }

  async #graphId(assistantId: string): Promise<string> {
    return this.#context.registry.find(assistantId) ?? (await this.get(assistantId)).graph_id;
  }

  /** @throws NotFoundError (`assistant_not_found`) */
  async schemas(assistantId: string): Promise<GraphSchema> {
    const { registry } = this.#context;
    const graphId = await this.#graphId(assistantId);
    const { graph, filter } = await registry.graph(graphId, "assistants.read");
    return clientSchemas(graph, graphId, filter);
  }

  /** @throws NotFoundError (`assistant_not_found`), InvalidRequestError for an unknown subgraph (`invalid_request`) */
  async draw(assistantId: string, options: DrawOptions): Promise<GraphDrawing> {
    const { registry } = this.#context;
    return drawGraph(
      (await registry.graph(await this.#graphId(assistantId), "assistants.read")).graph,
      options,
    );
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
    const graphId = await this.#graphId(assistantId);
    return subgraphSchemas(await registry.graph(graphId, "assistants.read"), graphId, options);
  }
}

/** Sorts by `sort_by`, descending by default. Without `sort_by` the default assistant comes first. */
function sorted(assistants: Assistant[], { sort_by, sort_order }: AssistantSearchRequest): Assistant[] {
  if (sort_by == null) return assistants;
  const sign = sort_order === "asc" ? 1 : -1;
  return assistants.sort((a, b) => (a[sort_by] < b[sort_by] ? -sign : a[sort_by] > b[sort_by] ? sign : 0));
}
