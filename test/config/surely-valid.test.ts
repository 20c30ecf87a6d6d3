/** The check of settings without ajv accepts only what ajv accepts. */
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, it } from "vitest";
import { SettingsSchema } from "../../src/config/settings.js";
import { isSurelyValid } from "../../src/config/surely-valid.js";

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, validateSchema: false });
const validate = ajv.compile(SettingsSchema);

const texts = fc.constantFrom(
  "",
  "a",
  "💥",
  "a key of eight",
  "eight-or-more",
  "postgres",
  "start",
  "x".repeat(40),
);
const scalars = fc.oneof(texts, fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const values = fc.oneof(
  scalars,
  fc.array(scalars),
  fc.array(fc.record({ name: texts, key: texts }, { requiredKeys: [] })),
  fc.dictionary(texts, scalars),
  fc.dictionary(texts, fc.record({ path: texts, description: texts, more: texts }, { requiredKeys: [] })),
);
const names = [...Object.keys(SettingsSchema.properties), "unknown", "__proto__", "constructor"];
const settings = fc.dictionary(fc.constantFrom(...names), values, { maxKeys: 3 });

it("accepts nothing that ajv rejects", () => {
  fc.assert(
    fc.property(settings, (given) => {
      if (isSurelyValid(SettingsSchema, given)) expect([given, validate(given)]).toEqual([given, true]);
    }),
    { numRuns: 2_000 },
  );
});

it.each(Object.entries(SettingsSchema.properties).filter(([, { default: preset }]) => preset !== undefined))(
  "accepts the default of %s",
  (name, schema) => expect(isSurelyValid(SettingsSchema, { [name]: schema.default as unknown })).toBe(true),
);

it.each([
  { graphs: { agent: "./graph.ts:graph", other: { path: "./o.ts", description: "other" } } },
  {
    checkpointer_scheme: "postgres",
    checkpointer_uri: "postgresql://x",
    checkpointer_options: { schema: "s" },
  },
  { api_keys: ["a-key-of-the-test", { name: "chat", key: "another-key" }], env: { A: "1" } },
  {
    run_timeout_seconds: 0.5,
    body_limit: 2_048,
    compat: "langgraph",
  },
])("accepts %j without ajv", (given) => {
  expect(validate(given)).toBe(true);
  expect(isSurelyValid(SettingsSchema, given)).toBe(true);
});
