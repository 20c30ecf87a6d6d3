/** Generates the case file reference from its schema. */
import type { TSchema } from "@sinclair/typebox";
import {
  CaseFileSchema,
  CaseSchema,
  ExpectationSchema,
  StepSchema,
  VerbsSchema,
} from "../../src/testing/cases/case-model.js";
import { typeText } from "./schema-text.js";

type Table = (head: string[], rows: string[][]) => string;
type Fields = Record<string, TSchema>;

export function caseFileReference(table: Table): string {
  const ofStep = Object.keys(StepSchema.properties);
  const ownOfCase = Object.entries(CaseSchema.properties).filter(([name]) => !ofStep.includes(name));
  const sections: [string, string, Fields][] = [
    ["A case file", "", CaseFileSchema.properties],
    ["A case", "A case with one run has the keys of a step, too.", Object.fromEntries(ownOfCase)],
    ["A step", "One run on the thread of the case.", StepSchema.properties],
    ["Expectations", "All given expectations must be met.", ExpectationSchema.properties],
    ["Matchers", "All given matchers must match.", VerbsSchema.properties],
  ];
  return sections
    .map(([title, text, fields]) => [`### ${title}`, text, table(["Key", "Type", "Meaning"], rowsOf(fields))])
    .map((parts) => parts.filter((part) => part !== "").join("\n\n"))
    .join("\n\n");
}

const rowsOf = (fields: Fields): string[][] =>
  Object.entries(fields).flatMap(([name, schema]) => [row(name, schema), ...partsOf(name, schema)]);

function row(name: string, schema: TSchema): string[] {
  return [`\`${name}\``, typeText(schema), schema.description ?? ""];
}

/** Table rows for the keys of an object without a table for itself. */
function partsOf(name: string, { title, properties }: TSchema & { properties?: Fields }): string[][] {
  if (title !== undefined) return [];
  const described = Object.entries(properties ?? {}).filter(
    ([, { description }]) => description !== undefined,
  );
  return described.map(([key, schema]) => row(`${name}.${key}`, schema));
}
