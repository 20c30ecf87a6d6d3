/** Types generated from our OpenAPI document, checked against the SDK's types by the TypeScript compiler. */
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { describe, expect, it } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";
import { compile } from "../helpers/compiler.js";

/**
 * Assignments of our types to the SDK's types; each must compile. Omitted fields can be null although the
 * SDK's types do not allow it; they are null on LangGraph's server too.
 */
const CLAIMS = `
import type { Assistant, Checkpoint, Cron, GraphSchema, Interrupt, Run, Thread, ThreadState, ThreadTask } from "@langchain/langgraph-sdk";
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
export const cron: Cron = ours.CronModel;
`;

/** Wrong assignments; each must fail to compile. */
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

describe("types generated from the document", () => {
  it("our types are assignable to the SDK's types", async () => {
    expect(compile((await generated()) + CLAIMS)).toEqual([]);
  });

  it("wrong assignments do not compile", async () => {
    expect(compile((await generated()) + MISTAKES)).toHaveLength(3);
  });
});
