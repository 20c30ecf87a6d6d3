import type { Command } from "@commander-js/extra-typings";
import type { LoadedConfig } from "../../config/load.js";
import { errorMessage } from "../../support/errors.js";
import { escapeControl, wrapped } from "../../view/text.js";
import { examples, type Runner } from "../session/command.js";
import { onlyGraph, openConfigured } from "../session/open.js";
import { errorDocument, errorText, shortPath } from "../session/report-error.js";
import { loadSettings, type Session, ignoredFieldError, ignoredFieldText } from "../session/session.js";
import { describeGraph } from "../terminal/text.js";

export function validateCommand(command: Command, run: Runner): void {
  command
    .argument("[graph...]", "files such as ./graph.ts:graph, or keys of the configuration")
    .option("--config-only", "check only the configuration, without loading graphs")
    .addHelpText(
      "after",
      examples(
        "graph-serve validate",
        "graph-serve validate ./graph.ts --json",
        "graph-serve validate --config-only -c graph-server.config.json",
      ),
    )
    .action((graphs, flags) => run(command, async (session) => validateConfig(session, graphs, flags)));
}

interface Check {
  check: string;
  status: "ok" | "fail";
  detail: string;
  cause?: unknown;
}

const FAULT_EXIT = 2;

/** `validate`: loads the configuration and each graph separately, to report all errors together. */
export async function validateConfig(
  session: Session,
  targets: readonly string[],
  { configOnly = false }: { configOnly?: boolean },
): Promise<number> {
  const config = await loadSettings(session, { graphs: targets });
  const checks: Check[] = [configCheck(config, session.io.cwd)];
  for (const field of config.unheeded) if (!field.protects) session.print.warn(ignoredFieldText(field));
  checks.push(...(configOnly ? [namedGraphs(config)] : await checkGraphs(config)));
  report(session, checks);
  return checks.every(({ status }) => status === "ok") ? 0 : FAULT_EXIT;
}

const namedGraphs = ({ settings: { graphs } }: LoadedConfig): Check => ({
  check: "graphs",
  status: "ok",
  detail: `${Object.keys(graphs).join(", ") || "none"}, not loaded`,
});

async function checkGraphs(config: LoadedConfig): Promise<Check[]> {
  const checks: Check[] = [];
  for (const id of Object.keys(config.settings.graphs)) checks.push(await checkGraph(config, id));
  if (Object.keys(config.settings.graphs).length === 0)
    checks.push({ check: "graphs", status: "fail", detail: "no graphs to load" });
  return [...checks, ...(await checkApp(config))];
}

/** Reports ignored access settings as `dev` and `start` do. */
function configCheck({ file, unheeded }: LoadedConfig, cwd: string): Check {
  const closed = unheeded.find(({ protects }) => protects);
  if (closed)
    return { check: "config", status: "fail", detail: closed.message, cause: ignoredFieldError(closed) };
  const detail = file === undefined ? "no config file, using defaults" : shortPath(file, cwd);
  return { check: "config", status: "ok", detail };
}

async function checkGraph(config: LoadedConfig, id: string): Promise<Check> {
  try {
    const service = await openConfigured(onlyGraph(config, id));
    try {
      const [summary] = await service.graphs();
      const schemas = await service.assistants.schemas(id);
      const derived = Object.entries(schemas).flatMap(([name, schema]) =>
        name.endsWith("_schema") && schema ? [name.replace("_schema", "")] : [],
      );
      return {
        check: id,
        status: "ok",
        detail: `${summary ? describeGraph(summary) : id}, schemas ${derived.join(" ") || "none"}`,
      };
    } finally {
      await service.close(0);
    }
  } catch (error) {
    return { check: id, status: "fail", detail: errorMessage(error), cause: error };
  }
}

async function checkApp({ settings: { http_app }, baseDir }: LoadedConfig): Promise<Check[]> {
  if (http_app === undefined) return [];
  try {
    const { HttpAppHook } = await import("../../service/http-app.js");
    await HttpAppHook.open(http_app, baseDir);
    return [{ check: "http_app", status: "ok", detail: http_app }];
  } catch (error) {
    return [{ check: "http_app", status: "fail", detail: errorMessage(error), cause: error }];
  }
}

const LEAST_DETAIL = 16;

function report({ io, print }: Session, checks: Check[]): void {
  if (print.flags.json) {
    const items = checks.map(({ cause, ...check }) => ({
      ...check,
      ...(cause !== undefined && errorDocument(cause, io)),
    }));
    print.json({ items, next: null });
    return;
  }
  const width = Math.max(...checks.map(({ check }) => check.length));
  for (const { check, status, detail } of checks) {
    const mark = status === "ok" ? print.colors.green("ok  ") : print.colors.red("fail");
    const [line = ""] = detail.split("\n", 1);
    const indent = width + "  fail    ".length;
    const [first = "", ...rest] = wrapped(escapeControl(line), Math.max(LEAST_DETAIL, print.width - indent));
    print.data(`  ${mark}  ${check.padEnd(width)}  ${first}`);
    for (const more of rest) print.data(" ".repeat(indent) + more);
  }
  for (const { cause } of checks) {
    if (cause === undefined) continue;
    io.stderr.write(`\n${errorText(cause, { colors: print.noteColors, io, verbose: print.flags.verbose })}`);
  }
}
