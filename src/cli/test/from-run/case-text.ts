/** A case file as YAML, with a head that says where it is from. */
import { extname } from "node:path";
import { Document, isScalar, visit } from "yaml";
import { isRecord } from "../../../models/common.js";
import type { Run } from "../../../models/run.js";
import type { CaseFileSource } from "../../../testing/case-model.js";

const LONGEST_NAME = 60;
const LINE_WIDTH = 110;

/** What the run was asked, in its own words where it has some. */
export function caseName({ run_id, kwargs }: Run): string {
  const text = lastQuestion(kwargs.input) ?? `run ${run_id.slice(-8)}`;
  const [line = ""] = text.trim().split("\n");
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 3)}...` : line;
}

function lastQuestion(input: unknown): string | undefined {
  const messages = isRecord(input) ? input.messages : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : messages;
  const content = isRecord(last) ? last.content : last;
  return typeof content === "string" && content.trim() !== "" ? content : undefined;
}

export function caseText(
  file: string,
  content: CaseFileSource,
  { run, schema }: { run: Run; schema: string | undefined },
): string {
  if (extname(file) === ".json")
    return `${JSON.stringify({ ...(schema !== undefined && { $schema: schema }), ...content }, null, 2)}\n`;
  const head = [
    ...(schema === undefined ? [] : [`# yaml-language-server: $schema=${schema}`]),
    `# Made from run ${run.run_id} of ${run.created_at}.`,
  ];
  const document = new Document(content);
  // Short lists read better on one line.
  visit(document, { Seq: (_, list) => void (list.flow = list.items.every((item) => isScalar(item))) });
  return `${head.join("\n")}\n${document.toString({ lineWidth: LINE_WIDTH, flowCollectionPadding: false })}`;
}
