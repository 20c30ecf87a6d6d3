/**
 * Names of the OpenTelemetry conventions for generative AI, version 0.1.0. The package
 * `@opentelemetry/semantic-conventions` has the names of an older draft.
 */

export const OPERATION = "gen_ai.operation.name";
export const AGENT = "gen_ai.agent.name";
export const CONVERSATION = "gen_ai.conversation.id";
export const MODEL = "gen_ai.request.model";
export const PROVIDER = "gen_ai.provider.name";
export const INPUT_TOKENS = "gen_ai.usage.input_tokens";
export const OUTPUT_TOKENS = "gen_ai.usage.output_tokens";
export const CACHE_READ_TOKENS = "gen_ai.usage.cache_read.input_tokens";
export const CACHE_WRITE_TOKENS = "gen_ai.usage.cache_write.input_tokens";
export const REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens";
export const TOOL = "gen_ai.tool.name";
export const TOOL_CALL = "gen_ai.tool.call.id";
export const INPUT = "gen_ai.input.messages";
export const OUTPUT = "gen_ai.output.messages";
export const ERROR_TYPE = "error.type";
export const USER = "user.id";
export const HTTP_METHOD = "http.request.method";
export const HTTP_ROUTE = "http.route";
export const HTTP_STATUS = "http.response.status_code";

/** Attributes that no convention covers. */
export const RUN = "graph_serve.run_id";
export const ATTEMPT = "graph_serve.attempt";
/** Fingerprint or `version` of the graph. */
export const GRAPH_VERSION = "graph_serve.version";
export const STATUS = "graph_serve.status";
export const NODE = "graph_serve.node";
export const STEP = "graph_serve.step";
export const STATE = "graph_serve.state";
/** Cost of a model call in US dollars. */
export const COST = "graph_serve.cost_usd";
/** Number of tasks that were not recorded. */
export const DROPPED = "graph_serve.dropped_tasks";
