import type { Command } from "@commander-js/extra-typings";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { maskPasswords } from "../../support/secrets.js";
import { escapeControl, wrapped } from "../../view/text.js";
import { examples, type Runner } from "../session/command.js";
import {
  type Check,
  type CheckStatus,
  copiesCheck,
  failure,
  graphChecks,
  nodeCheck,
  ok,
  packageChecks,
  storageChecks,
  tracingCheck,
  warn,
} from "../doctor/check.js";
import { type DevConfig, storageConfig } from "../session/open.js";
import { addStorageOptions, type StorageFlags } from "../session/options.js";
import { originText, shortPath } from "../session/report-error.js";
import { type Session, ignoredFieldError, ignoredFieldText } from "../session/session.js";
import { counted } from "../terminal/text.js";

export function doctorCommand(command: Command, run: Runner): void {
  addStorageOptions(command)
    .addHelpText("after", examples("graph-serve doctor", "graph-serve doctor --json"))
    .action((options) => run(command, async (session) => doctor(session, options)));
}

const FAILED_EXIT = 1;
const NARROWEST = 40;

interface Manifest {
  engines: { node: string };
  peerDependencies: Record<string, string>;
}

/** `doctor`: check everything a server needs, and show how to fix problems. */
async function doctor(session: Session, flags: StorageFlags): Promise<number> {
  const checks = await allChecks(session, flags);
  report(session, checks);
  return checks.some(({ status }) => status === "fail") ? FAILED_EXIT : 0;
}

async function allChecks(session: Session, flags: StorageFlags): Promise<Check[]> {
  const { io } = session;
  const { engines, peerDependencies } = manifest();
  const checks: Check[] = [nodeCheck(process.versions.node, engines.node)];
  let config: DevConfig;
  try {
    // `configChecks` reports the warnings.
    config = await storageConfig(session, flags, { warn: () => undefined });
  } catch (error) {
    return [
      ...checks,
      tracingCheck(io.env),
      ...packageChecks(io.cwd, peerDependencies),
      failure("config", error, "see graph-serve config schema"),
    ];
  }
  return [
    ...checks,
    tracingCheck({ ...config.env, ...io.env }),
    ...packageChecks(graphFolder(config), peerDependencies),
    copiesCheck(graphFiles(config)),
    ...configChecks(config, io.cwd),
    ...(await graphChecks(config)),
    ...(await storageChecks(config)),
  ];
}

function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as Manifest;
}

function graphFiles({ settings, baseDir }: LoadedConfig): string[] {
  return Object.values(settings.graphs).map((source) => resolve(baseDir, parseGraphTarget(source).path));
}

function graphFolder(config: LoadedConfig): string {
  const [file] = graphFiles(config);
  return file === undefined ? config.baseDir : dirname(file);
}

function configChecks(config: LoadedConfig, cwd: string): Check[] {
  const { file, settings, origins, warnings, unheeded } = config;
  return [
    ok("config", file === undefined ? "no config file, using defaults" : shortPath(file, cwd)),
    ok("compat", `${settings.compat} (${originText(origins.compat, cwd)})`),
    ...warnings.map((warning) => warn("config", warning, "see graph-serve config print --origin")),
    ...unheeded.map((field) =>
      field.protects
        ? failure("config", ignoredFieldError(field), field.hint)
        : warn("config", ignoredFieldText(field), field.hint),
    ),
  ];
}

function report({ print }: Session, checks: readonly Check[]): void {
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const [fails, warns] = [count("fail"), count("warn")];
  const shown = checks.map((check) => ({
    ...check,
    detail: maskPasswords(check.detail),
    ...(check.fix !== undefined && { fix: print.asCalled(maskPasswords(check.fix)) }),
  }));
  if (print.flags.json) {
    print.json({ items: shown, next: null });
    return;
  }
  const { green, yellow, red, dim } = print.colors;
  const paint = { ok: green, warn: yellow, fail: red };
  const names = Math.max(...shown.map(({ check }) => check.length));
  // On a narrow terminal the detail goes below the name.
  const isNarrow = print.width < names + NARROWEST;
  const indent = " ".repeat(isNarrow ? 6 : names + 8);
  for (const { check, status, detail, fix } of shown) {
    const lines = wrapped(escapeControl(detail), print.width - indent.length);
    const fixes =
      fix === undefined || status === "ok"
        ? []
        : wrapped(escapeControl(fix), print.width - indent.length - 4);
    const head = `${paint[status](status.padEnd(4))}  ${escapeControl(check)}`;
    const gap = " ".repeat(Math.max(0, names - escapeControl(check).length) + 2);
    print.data(isNarrow ? head : `${head}${gap}${lines.shift() ?? ""}`.trimEnd());
    for (const line of lines) print.data(indent + line);
    for (const [index, line] of fixes.entries())
      print.data(`${indent}${index === 0 ? dim("fix ") : "    "}${line}`);
  }
  print.note(
    fails + warns === 0 ? "no problems found" : `${counted(fails, "error")}, ${counted(warns, "warning")}`,
  );
}
