/** Validates responses against the OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { expect } from "vitest";
import { buildOpenApi } from "../../src/http/openapi.js";
import { ROUTES } from "../../src/http/route-table.js";
import type { Answer } from "./app.js";

interface Operation {
  responses: Record<string, { headers?: Record<string, object>; content?: Record<string, object> }>;
}

const document = buildOpenApi(ROUTES);
const ajv = new Ajv2020({ strict: false, allErrors: true });
(addFormatsModule as unknown as (target: Ajv2020) => void)(ajv);
ajv.addSchema({ $id: "api", ...document });

const templates = Object.entries(document.paths).map(([path, methods]) => ({
  path,
  methods: methods as unknown as Record<string, Operation>,
  pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
}));

const escape = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");

function assertFits(pointer: string, value: unknown): void {
  const check = ajv.getSchema(`api#${pointer}`);
  expect(check, pointer).toBeDefined();
  expect({ valid: check?.(value), errors: check?.errors ?? null }).toEqual({ valid: true, errors: null });
}

/** Fails unless the document describes the status, body and headers of the response. */
export function expectDocumented(method: string, path: string, answer: Answer): void {
  const name = path.split("?", 1)[0] ?? "";
  const template = templates.find(({ pattern }) => pattern.test(name));
  const verb = method.toLowerCase();
  const operation = template?.methods[verb];
  if (!template || !operation) return assertFits("/components/schemas/ErrorResponse", answer.body);
  const documented = operation.responses[answer.status];
  expect(documented, `${method} ${path} -> ${answer.status}`).toBeDefined();
  const type = Object.keys(documented?.content ?? {})[0];
  if (!type) return expect(answer.text).toBe("");
  expect(answer.headers.get("content-type")).toContain(type);
  if (type !== "application/json") return;
  const place = ["paths", template.path, verb, "responses", String(answer.status), "content", type, "schema"];
  assertFits(`/${place.map(escape).join("/")}`, answer.body);
}
