import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";
import { serve } from "../helpers/app.js";
import { fakeService } from "../helpers/fake-service.js";
import { webhooks } from "../helpers/webhook-receiver.js";

type Json = Record<string, unknown>;

const document = buildOpenApi(ROUTES);
const { schemas } = document.components;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operation,
  })),
);

/** Yields every object below `value` with its path. */
function* walk(value: unknown, path = ""): Generator<[string, Json]> {
  if (typeof value !== "object" || value === null) return;
  yield [path, value as Json];
  for (const [key, item] of Object.entries(value)) yield* walk(item, `${path}/${key}`);
}

describe("the OpenAPI document", () => {
  it("the document is valid OpenAPI 3.1", async () => {
    const result = await new Validator().validate(JSON.parse(JSON.stringify(document)) as Json);
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });

  it("the document is deterministic", () => {
    expect(JSON.stringify(buildOpenApi(ROUTES))).toBe(JSON.stringify(document));
  });

  it("the served document equals the built one", async () => {
    const { request } = await serve(
      fakeService({ settings: { assistants: "managed", crons: true, webhooks } }),
    );
    expect((await request("GET", "/openapi.json")).body).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it.each([
    "AssistantModel",
    "AssistantSearchRequest",
    "CheckpointConfigModel",
    "CommandModel",
    "ErrorResponse",
    "GraphSchemaModel",
    "HealthResponse",
    "InitialMessageResponse",
    "RunCreateRequest",
    "RunModel",
    "ServerInfoModel",
    "StateWriteResponse",
    "ThreadCreateRequest",
    "ThreadModel",
    "ThreadPatchRequest",
    "ThreadSearchRequest",
    "ThreadStateModel",
    "ThreadStateSearchRequest",
    "ThreadStateUpdateRequest",
  ])("the document contains the component %s", (name) => {
    expect(schemas).toHaveProperty(name);
  });

  it("every field has a description", () => {
    const silent: string[] = [];
    for (const [path, node] of walk(schemas)) {
      if (!path.endsWith("/properties")) continue;
      for (const [name, field] of Object.entries(node as Record<string, Json>)) {
        if (!field.description && !field.$ref) silent.push(`${path}/${name}`);
      }
    }
    expect(silent).toEqual([]);
  });

  it("every component, parameter, response and header has a description", () => {
    const parts = [
      ...Object.values(schemas),
      ...operations.flatMap(({ operation }) => [
        ...((operation.parameters as Json[] | undefined) ?? []),
        ...Object.values(operation.responses as Json),
        ...Object.values(operation.responses as Record<string, { headers?: Json }>).flatMap(({ headers }) =>
          Object.values(headers ?? {}),
        ),
      ]),
    ] as Json[];
    expect(parts.filter(({ description }) => !description)).toEqual([]);
  });

  it("every reference resolves to a component", () => {
    const references = [...walk(document)]
      .map(([, node]) => node.$ref)
      .filter((ref) => typeof ref === "string");
    expect(references.length).toBeGreaterThan(20);
    for (const ref of references) expect(schemas).toHaveProperty(ref.replace("#/components/schemas/", ""));
  });

  it("every operation has a unique id", () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(operations.length);
  });

  it("creating a run documents its status codes and headers", () => {
    const run = operations.find(({ name }) => name === "POST /threads/{thread_id}/runs");
    const responses = run?.operation.responses as Record<string, { headers?: Json }>;
    expect(Object.keys(responses)).toEqual([
      "200",
      "400",
      "403",
      "404",
      "409",
      "413",
      "422",
      "429",
      "500",
      "503",
    ]);
    expect(Object.keys(responses["200"]?.headers ?? {})).toEqual([
      "Location",
      "Content-Location",
      "X-Tokens-Used",
      "X-Cost-Used",
    ]);
  });
});
