/** The types that a client generator makes of our document, held against those of the SDK by the TypeScript compiler. */
import { join } from "node:path";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";

const FILE = join(import.meta.dirname, "generated-types.ts");

/**
 * What an answer of ours is to the SDK: each line must compile. Left out are the fields that may be null here though
 * the SDK's types do not say so: those are null on its own server too.
 */
const CLAIMS = `
import type { Assistant, Checkpoint, GraphSchema, Interrupt, Run, Thread, ThreadState, ThreadTask } from "@langchain/langgraph-sdk";
type Ours = components["schemas"];
declare const ours: { [Name in keyof Ours]: Ours[Name] };
export const thread: Omit<Thread, "state_updated_at"> = ours.ThreadModel;
export const run: Run = ours.RunModel;
export const assistant: Omit<Assistant, "description"> = ours.AssistantModel;
export const schema: GraphSchema = ours.GraphSchemaModel;
export const checkpoint: Checkpoint = ours.CheckpointRef;
export const state: Omit<ThreadState<unknown>, "checkpoint" | "tasks"> = ours.ThreadStateModel;
export const task: Omit<ThreadTask, "state"> = ours.ThreadTaskModel;
export const interrupt: Interrupt = ours.InterruptModel;
`;

/** What is wrong on purpose: each line must not compile. */
const MISTAKES = `
import type { Run, Thread } from "@langchain/langgraph-sdk";
declare const ours: components["schemas"];
export const a: Run["status"] = ours["ThreadModel"]["status"];
export const b: Thread = ours["RunModel"];
export const c: Pick<Thread, "state_updated_at"> = ours["ThreadModel"];
`;

async function generated(): Promise<string> {
  const document = JSON.parse(JSON.stringify(buildOpenApi(ROUTES))) as OpenAPI3;
  return astToString(await openapiTS(document));
}

/** Compile one file that is not on disk; the text of its errors. */
function compile(text: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (name) => name === FILE || disk.fileExists(name);
  host.readFile = (name) => (name === FILE ? text : disk.readFile(name));
  host.getSourceFile = (name, ...rest) =>
    name === FILE
      ? ts.createSourceFile(name, text, options.target ?? ts.ScriptTarget.ES2023)
      : disk.getSourceFile(name, ...rest);
  const program = ts.createProgram([FILE], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("types generated from the document", () => {
  it("fit where the SDK's types are asked for", { timeout: 120_000 }, async () => {
    expect(compile((await generated()) + CLAIMS)).toEqual([]);
  });

  it("do not fit where others are asked for", { timeout: 120_000 }, async () => {
    expect(compile((await generated()) + MISTAKES)).toHaveLength(3);
  });
});
