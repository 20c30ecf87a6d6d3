/** Full schemas from a graph's TypeScript source, by LangGraph's own parser where the project has it installed. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseGraphTarget } from "../../config/graph-target.js";
import { ConfigError, errorMessage } from "../../support/errors.js";
import type { GraphSchema } from "../../models/assistant.js";
import { isRecord, type JsonObject } from "../../models/common.js";

const PARSER = "@langchain/langgraph-api";
const COMPILER = "typescript";
export const INSTALL_PARSER = `npm install -D ${PARSER} ${COMPILER}`;

interface StaticParser {
  getStaticGraphSchema(spec: {
    sourceFile: string;
    exportSymbol: string;
  }): Promise<Record<string, Record<string, unknown>>>;
}

/**
 * The schemas of the graph that `source` (`./graph.ts:export`) names, read from its types.
 * @throws ConfigError when the project has no parser, or the parser fails (`config_invalid`)
 */
export async function staticSchemas(source: string, baseDir: string, graphId: string): Promise<GraphSchema> {
  const { path, exportName = "default" } = parseGraphTarget(source);
  const sourceFile = resolve(baseDir, path);
  const parser = await loadParser(dirname(sourceFile));
  let found: Record<string, Record<string, unknown>>;
  try {
    found = await parser.getStaticGraphSchema({ sourceFile, exportSymbol: exportName });
  } catch (error) {
    throw new ConfigError(`the types of ${path} cannot be read: ${errorMessage(error)}`, {
      hint: "leave --static out for what the channels show",
      cause: error,
      location: { file: sourceFile },
    });
  }
  // Subgraphs are listed beside the graph, their names joined with "|".
  const root = Object.keys(found).find((name) => !name.includes("|"));
  const { input, output, state, config } = (root === undefined ? undefined : found[root]) ?? {};
  return {
    graph_id: graphId,
    input_schema: objectOrNull(input),
    output_schema: objectOrNull(output),
    state_schema: objectOrNull(state),
    config_schema: objectOrNull(config),
    context_schema: objectOrNull(config),
  };
}

async function loadParser(folder: string): Promise<StaticParser> {
  const require = createRequire(join(folder, "_.js"));
  const missing = [PARSER, COMPILER].filter((name) => !isInstalled(require, name));
  if (missing.length > 0) {
    throw new ConfigError(`--static needs ${missing.join(" and ")} in the project of the graph`, {
      hint: `${INSTALL_PARSER}; or declare the state with zod or StateSchema, which needs neither`,
    });
  }
  return (await import(pathToFileURL(require.resolve(`${PARSER}/schema`)).href)) as StaticParser;
}

/** Looked up by folder: a package need not export its package.json. */
function isInstalled(require: NodeJS.Require, name: string): boolean {
  const places = require.resolve.paths(name) ?? [];
  return places.some((place) => existsSync(join(place, name, "package.json")));
}

const objectOrNull = (value: unknown): JsonObject | null => (isRecord(value) ? value : null);
