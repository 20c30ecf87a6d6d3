/**
 * Generates the sections of README.md and docs/ that are derived from the code: settings, commands,
 * endpoints, errors.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { TObject, TSchema } from "@sinclair/typebox";
import { SETTING_NAMES, variableName } from "../../src/config/environment.js";
import { SettingsSchema } from "../../src/config/settings.js";
import { ERROR_CODES, type ErrorCode } from "../../src/support/errors/codes.js";
import { ERROR_TEXTS } from "../../src/http/openapi.js";
import type { Route, Tag } from "../../src/http/core/route.js";
import { ROUTES } from "../../src/http/route-table.js";
import { SDK_METHODS } from "../clients/sdk-methods.js";
import { BOUNDS, settingOf, valueOf, type Bound } from "./bounds.js";
import { caseFileReference } from "./case-file-docs.js";
import { readHelp, type CommandHelp, type HelpEntry } from "./cli-help.js";
import { ROOT } from "./markdown.js";
import { defaultText, typeText } from "./schema-text.js";

/** Generated text by the name of its markers: `<!-- generated:name -->` … `<!-- end:name -->`. */
export async function generatedTexts(): Promise<Record<string, string>> {
  const commands = await readHelp();
  return {
    settings: settingsTable(commands),
    "command-list": commandList(commands),
    ...commandPages(commands),
    "exit-codes": exitCodes(),
    ...resourcePages(),
    errors: errorTable(),
    "case-files": caseFileReference(table),
    "sdk-methods": sdkMethods(),
    ...Object.fromEntries(
      Object.entries(BOUNDS).map(([name, bounds]) => [`bounds-${name}`, boundTable(bounds)]),
    ),
    versions: versions(),
  };
}

type Cell = string | undefined;

function table(head: string[], rows: Cell[][]): string {
  const line = (cells: Cell[]) => `| ${cells.map((cell) => escapeCell(cell ?? "")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

const escapeCell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
const code = (text: string) => `\`${text}\``;
const codes = (texts: readonly string[]) => texts.map(code).join(" ");

function settingsTable(commands: CommandHelp[]): string {
  const rows = SETTING_NAMES.flatMap((name) => {
    const schema = SettingsSchema.properties[name] as TSchema;
    const variable = variableName(name);
    return [
      [
        code(name),
        typeText(schema),
        defaultText(schema),
        code(variable),
        flagsOf(variable, commands),
        described(schema),
      ],
      ...optionRows(name, schema),
    ];
  });
  return table(["Setting", "Type", "Default", "Variable", "Flag", "Description"], rows);
}

/** Rows for the options of a setting that is an object. */
function optionRows(name: string, schema: TSchema): Cell[][] {
  const { properties } = schema as { properties?: Record<string, TSchema> };
  return Object.entries(properties ?? {}).map(([option, inner]) => [
    code(`${name}.${option}`),
    typeText(inner),
    defaultText(inner),
    "",
    "",
    described(inner),
  ]);
}

const described = (schema: TSchema) => schema.description ?? "";

/** The flags whose help mentions the environment variable. */
function flagsOf(variable: string, commands: CommandHelp[]): string {
  const terms = commands
    .flatMap(({ options }) => options)
    .filter(({ text }) => new RegExp(`env [A-Z_, ]*\\b${variable}[,)]`).test(text))
    .map(({ term }) => term.replace(/ <.*$/, ""));
  return codes([...new Set(terms)]);
}

function commandList(commands: CommandHelp[]): string {
  const rows = commands
    .filter(({ name }) => name !== "")
    .map(({ name, description }) => [`[${code(name)}](${pageOf(name)})`, description]);
  return table(["Command", "Description"], rows);
}

/** A subcommand has a heading on the page of its command. */
const pageOf = (name: string) => {
  const [page = ""] = name.split(" ");
  return `commands/${page}.md${name === page ? "" : `#${name.replaceAll(" ", "-")}`}`;
};

/** The global flags, and one text for each command, with its subcommands. */
function commandPages(commands: CommandHelp[]): Record<string, string> {
  const pages: Record<string, string> = {};
  for (const command of commands) {
    const [page = ""] = command.name.split(" ");
    const key = `command-${page === "" ? "global" : page}`;
    pages[key] = [...(key in pages ? [pages[key]] : []), commandSection(command)].join("\n\n");
  }
  return pages;
}

function commandSection({ name, usage, description, args, options, examples }: CommandHelp): string {
  const entries = [...args, ...options].filter(({ term }) => term !== "-h, --help" || name === "");
  return [
    ...(name.includes(" ") ? [`## ${code(name)}`] : []),
    ...(name === "" ? [] : [description]),
    `\`\`\`text\n${usage}\n\`\`\``,
    ...(entries.length > 0 ? [table(["Argument or flag", "Description"], entries.map(entryRow))] : []),
    ...(examples.length > 0 ? [`\`\`\`text\n${examples.join("\n")}\n\`\`\``] : []),
  ].join("\n\n");
}

const entryRow = ({ term, text }: HelpEntry): Cell[] => [code(term), text];

function exitCodes(): string {
  const byExit = new Map<number, ErrorCode[]>();
  for (const [name, { exitCode }] of Object.entries(ERROR_CODES)) {
    byExit.set(exitCode, [...(byExit.get(exitCode) ?? []), name as ErrorCode]);
  }
  const rows = [...byExit].sort(([a], [b]) => a - b).map(([exit, names]) => [String(exit), codes(names)]);
  return table(["Exit code", "Errors"], rows);
}

const ORDER = ["get", "post", "patch", "put", "delete"];

/** The pages of docs/http/, by the tag of their routes. */
const RESOURCES: Record<Tag, string> = {
  "Health and info": "health",
  Assistants: "assistants",
  Threads: "threads",
  "Thread state": "state",
  Changes: "changes",
  Runs: "runs",
  Crons: "crons",
  Webhooks: "webhooks",
  "Events and commands": "events",
  Usage: "usage",
  Store: "store",
};

/** For each resource, its endpoints and the request bodies that are described on its page. */
function resourcePages(): Record<string, string> {
  const described = new Set<string>();
  const pages = Object.entries(RESOURCES).flatMap(([tag, page]) => {
    const routes = ROUTES.filter((route) => route.tag === tag).sort(byPath);
    const models = routes.flatMap(({ body }) => (body?.type === "object" ? [body] : []));
    const own = new Map(models.map((model) => [model.title ?? "", model]));
    for (const title of described) own.delete(title);
    for (const title of own.keys()) described.add(title);
    const endpoints = table(
      ["Request", "Description", "Parameters", "Response", "Errors"],
      routes.map(endpointRow),
    );
    return [[`endpoints-${page}`, endpoints], ...(own.size > 0 ? [[`bodies-${page}`, bodies(own)]] : [])];
  });
  return Object.fromEntries(pages) as Record<string, string>;
}

const byPath = (a: Route, b: Route) =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : ORDER.indexOf(a.method) - ORDER.indexOf(b.method);

function endpointRow({
  method,
  path,
  summary,
  body,
  query,
  requestHeaders,
  responses,
  errors,
}: Route): Cell[] {
  const takes = [
    ...(body ? [body.title ?? "a body"] : []),
    ...Object.keys(query?.properties ?? {}).map((name) => code(`?${name}`)),
    ...Object.keys(requestHeaders ?? {}).map((name) => `header ${code(name)}`),
  ];
  const answers = responses.map(({ status, schema, contentType }) =>
    [String(status), contentType === "text/event-stream" ? "event stream" : schema && answerText(schema)]
      .filter(Boolean)
      .join(" "),
  );
  return [
    code(`${method.toUpperCase()} ${path}`),
    summary,
    takes.join(", "),
    answers.join(", "),
    codes(errors),
  ];
}

const answerText = (schema: TSchema) => schema.title ?? typeText(schema);

function bodies(models: Map<string, TObject>): string {
  const sections = [...models]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, { properties, required, description }]) => {
      const rows = Object.entries<TSchema>(properties).map(([name, schema]) => [
        code(name) + (required?.includes(name) ? " (required)" : ""),
        typeText(schema),
        defaultText(schema),
        described(schema),
      ]);
      return `### ${title}\n\n${description}\n\n${table(["Field", "Type", "Default", "Meaning"], rows)}`;
    });
  return ["## Request bodies", ...sections].join("\n\n");
}

function errorTable(): string {
  // The document names routes that are not served only where a setting enables them.
  const texts = { ...ERROR_TEXTS, route_not_found: "the path does not exist" };
  const rows = Object.entries(texts).map(([name, text]) => [
    String(ERROR_CODES[name as ErrorCode].status),
    code(name),
    text,
  ]);
  return table(
    ["Status", "`code`", "When"],
    rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0)),
  );
}

function sdkMethods(): string {
  const rows = SDK_METHODS.map(({ call, outcome, status, note }) => [
    call.replace(/^\S+/, code),
    outcome,
    String(status),
    note,
  ]);
  return table(["Call", "Result", "Status", "Notes"], rows);
}

function boundTable(bounds: readonly Bound[]): string {
  const rows = bounds.map((bound) => [
    bound.what,
    valueOf(bound),
    settingOf(bound) && code(settingOf(bound)),
    bound.beyond,
  ]);
  return table(["Limit", "Value", "Setting", "When exceeded"], rows);
}

/** LangGraph package versions of the oldest, locked and newest test runs. */
function versions(): string {
  const { dependencies } = manifest("test/newest") as { dependencies: Record<string, string> };
  const { dependencies: oldest } = manifest("test/oldest") as { dependencies: Record<string, string> };
  const rows = Object.entries(dependencies).map(([name, newest]) => {
    const { version } = manifest(`node_modules/${name}`) as { version: string };
    return [code(name), oldest[name] ?? "", version, newest];
  });
  return table(["Package", "Oldest tested", "Lock file", "Newest tested"], rows);
}

const manifest = (folder: string): unknown =>
  JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
