/** Reads full schemas from a graph's TypeScript source, using LangGraph's parser if the project has it installed. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseGraphTarget } from "../../config/graph-target.js";
import { ConfigError } from "../../support/errors.js";
import { errorMessage } from "../../support/errors/thrown.js";
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
 * Reads the schemas of the graph at `source` (`./graph.ts:export`) from its types.
 * @throws ConfigError if the parser is not installed or fails (`config_invalid`)
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
      hint: "remove --static to infer the schemas from channels",
      cause: error,
      location: { file: sourceFile },
    });
  }
  // The result also lists subgraphs, with names joined by "|".
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
    throw new ConfigError(`--static requires ${missing.join(" and ")} in the graph's project`, {
      hint: `${INSTALL_PARSER}; or declare the state with zod or StateSchema, which do not need it`,
    });
  }
  return (await import(pathToFileURL(require.resolve(`${PARSER}/schema`)).href)) as StaticParser;
}

/** Checks folders instead of resolving, because a package may not export its package.json. */
function isInstalled(require: NodeJS.Require, name: string): boolean {
  const places = require.resolve.paths(name) ?? [];
  return places.some((place) => existsSync(join(place, name, "package.json")));
}

const objectOrNull = (value: unknown): JsonObject | null => (isRecord(value) ? value : null);
