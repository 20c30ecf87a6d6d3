/** Exposes graphs as tools: names, schemas, and the mapping of arguments to graph input. */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import { isRecord, type JsonObject } from "../models/common.js";
import type { Service } from "../service/service.js";
import { asServiceError, publicMessage } from "../support/errors.js";

/** Maximum length of a tool name. Clients and models accept only letters, digits, `_` and `-`. */
const LONGEST_TOOL_NAME = 64;

/** Name of the tool that answers interrupts, unless a graph has this name. */
const RESUME = "resume_thread";

const THREAD_ID = {
  type: "string",
  description: "Id of the conversation to continue, from an earlier answer; omit it for a new one.",
};

interface GraphTool {
  tool: Tool;
  /** Name of the argument for the thread id. */
  threadArgument: string;
  /** True if the input is not an object and therefore a single argument. */
  isWrapped: boolean;
}

export type CalledTool =
  | { kind: "graph"; graphId: string; threadId: unknown; input: unknown }
  | { kind: "resume"; threadId: unknown; answer: unknown };

/** The tools of a service; schemas are derived once per load. */
export class Tools {
  readonly #service: Service;
  readonly #known = new Map<string, Promise<GraphTool>>();

  constructor(service: Service) {
    this.#service = service;
  }

  /** Clears schemas that a reload may have changed. */
  forget(): void {
    this.#known.clear();
  }

  async list(): Promise<Tool[]> {
    const named = toolNames(this.#service.graphIds);
    const graphs = await Promise.all(
      [...named.graphs].map(async ([name, graphId]) => ({ ...(await this.#tool(graphId)).tool, name })),
    );
    return [...graphs, resumeTool(named.resume)];
  }

  /** Resolves the target of a call; undefined if the tool does not exist. */
  async resolve(name: string, args: JsonObject): Promise<CalledTool | undefined> {
    const named = toolNames(this.#service.graphIds);
    if (name === named.resume) return { kind: "resume", threadId: args.thread_id, answer: args.answer };
    const graphId = named.graphs.get(name);
    if (graphId === undefined) return undefined;
    const { threadArgument, isWrapped } = await this.#tool(graphId);
    const { [threadArgument]: threadId, ...input } = args;
    return { kind: "graph", graphId, threadId, input: isWrapped ? input.input : input };
  }

  async #tool(graphId: string): Promise<GraphTool> {
    const known = this.#known.get(graphId);
    if (known) return known;
    const made = graphTool(this.#service, graphId);
    this.#known.set(graphId, made);
    // A failed graph factory may succeed the next time.
    if (this.#service.graphFault({ graph_id: graphId })) this.#known.delete(graphId);
    made.catch(() => this.#known.delete(graphId));
    return made;
  }
}

/** Maps unique tool names, valid for every client, to graph ids, and returns the name of the resume tool. */
export function toolNames(ids: readonly string[]): { graphs: Map<string, string>; resume: string } {
  const graphs = new Map<string, string>();
  for (const id of ids) graphs.set(freeName(id, graphs), id);
  return { graphs, resume: freeName(RESUME, graphs) };
}

function freeName(id: string, taken: ReadonlyMap<string, string>): string {
  const name = id.replace(/[^\w-]/g, "_").slice(0, LONGEST_TOOL_NAME);
  let free = name;
  for (let number = 2; taken.has(free); number += 1) {
    const ending = `_${number}`;
    free = name.slice(0, LONGEST_TOOL_NAME - ending.length) + ending;
  }
  return free;
}

async function graphTool(service: Service, graphId: string): Promise<GraphTool> {
  const { name, description } = await service.assistants.get(graphId);
  const { schema, fault } = await inputOf(service, graphId);
  const isWrapped = schema?.type !== "object";
  const own = isWrapped ? wrapped(schema) : schema;
  const properties = isRecord(own.properties) ? own.properties : {};
  const threadArgument = Object.hasOwn(properties, "thread_id") ? "_thread_id" : "thread_id";
  return {
    tool: {
      name: graphId,
      title: name,
      description: [description ?? `Runs the graph ${graphId}.`, fault].filter(Boolean).join(" "),
      inputSchema: {
        ...own,
        type: "object",
        properties: { ...properties, [threadArgument]: THREAD_ID } as Schemas,
      },
    },
    threadArgument,
    isWrapped,
  };
}

type Schemas = Tool["inputSchema"]["properties"];

/** The input schema of a graph, or the reason why the graph cannot be called. */
async function inputOf(
  service: Service,
  graphId: string,
): Promise<{ schema: JsonObject | null; fault?: string }> {
  try {
    return { schema: (await service.assistants.schemas(graphId)).input_schema };
  } catch (error) {
    const fault = `It cannot be called now: ${publicMessage(asServiceError(error))}`;
    return { schema: { type: "object" }, fault };
  }
}

/** Tool arguments are an object, so an input of another or unknown type is wrapped in a property. */
function wrapped(schema: JsonObject | null): JsonObject {
  const { $defs, definitions, ...input } = schema ?? {};
  return {
    properties: { input: { description: "Input of the graph.", ...input } },
    required: ["input"],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

const resumeTool = (name: string): Tool => ({
  name,
  title: "Answer a question",
  description:
    "Answers the question of an interrupted graph and resumes it. Pass the thread_id of the answer with the question.",
  inputSchema: {
    type: "object",
    properties: {
      thread_id: { type: "string", description: "Id of the conversation that waits." },
      answer: {
        description:
          "The answer, in the requested form; for several questions, an object of answers by question id.",
      },
    },
    required: ["thread_id", "answer"],
  },
});
