/** The checks of `doctor` and `validate`, in the order of their output. `validate` leaves out those that need a network. */
import { dirname, resolve } from "node:path";
import { parseGraphTarget } from "../../config/graph-target.js";
import type { LoadedConfig } from "../../config/load.js";
import { assertMetrics } from "../../config/metrics-settings.js";
import { assertProcesses } from "../../config/process-settings.js";
import { assertQueue } from "../../config/queue-settings.js";
import { assertRecording } from "../../config/recording-settings.js";
import { assertWatchdog } from "../../config/watchdog-settings.js";
import { MANIFEST } from "../../support/own-package.js";
import type { DevConfig } from "../session/open.js";
import { originText, shortPath } from "../session/report-error.js";
import { ignoredFieldError, ignoredFieldText, type Session } from "../session/session.js";
import { storageChecks } from "./storage-checks.js";
import { copiesCheck, packageChecks, queueChecks } from "./package-checks.js";
import { graphChecks } from "./graph-checks.js";
import { nodeCheck, tracingCheck } from "./environment-checks.js";
import { appCheck, authCheck, collectorCheck, embeddingCheck, optionalChecks } from "./setting-checks.js";
import { type Check, type CheckStatus, failure, ok, warn } from "./check.js";

interface Checked {
  session: Session;
  config: DevConfig;
  /** Which checks run. */
  needs: readonly CheckNeed[];
  /** Status of a configuration without graphs. */
  withoutGraphs: CheckStatus;
}

/** What a check needs: this process only, the configuration, its graphs, or a connection to the storage. */
type CheckNeed = "process" | "config" | "graphs" | "network";

interface Entry {
  needs: CheckNeed;
  run: (checked: Checked) => Check[] | Promise<Check[]>;
}

const CHECKS: readonly Entry[] = [
  { needs: "process", run: () => [nodeCheck(process.versions.node, MANIFEST.engines.node)] },
  { needs: "process", run: ({ session, config }) => [tracingCheck({ ...config.env, ...session.io.env })] },
  { needs: "process", run: ({ config }) => packageChecks(graphFolder(config), MANIFEST.peerDependencies) },
  { needs: "graphs", run: ({ config }) => [copiesCheck(graphFiles(config))] },
  { needs: "config", run: ({ session, config }) => configChecks(config, session.io.cwd) },
  { needs: "config", run: ({ config }) => contradictions(config) },
  { needs: "config", run: ({ config }) => queueChecks(config, MANIFEST.peerDependencies) },
  { needs: "config", run: namedGraphs },
  { needs: "graphs", run: ({ config }) => graphChecks(config) },
  { needs: "graphs", run: ({ config }) => optionalChecks(config) },
  {
    needs: "graphs",
    run: ({ session, config }) => collectorCheck(config.baseDir, { ...config.env, ...session.io.env }),
  },
  { needs: "graphs", run: ({ config }) => authCheck(config) },
  { needs: "graphs", run: ({ config }) => appCheck(config) },
  { needs: "network", run: ({ config }) => embeddingCheck(config) },
  { needs: "network", run: ({ config }) => storageChecks(config) },
];

/** @param load loads the configuration; its error is a failed check, and only checks of the process run */
export async function runChecks(
  session: Session,
  { load, ...request }: Pick<Checked, "needs" | "withoutGraphs"> & { load: () => Promise<DevConfig> },
): Promise<Check[]> {
  const { io } = session;
  const noConfig = { env: {}, baseDir: io.cwd, settings: { graphs: {} } } as unknown as DevConfig;
  const failed: Check[] = [];
  const config = await load().catch((error: unknown) => {
    failed.push(failure("config", error, "see graph-serve config schema"));
    return undefined;
  });
  const needs = config ? request.needs : ["process"];
  const checked = { session, config: config ?? noConfig, ...request };
  const checks: Check[] = [];
  for (const entry of CHECKS) if (needs.includes(entry.needs)) checks.push(...(await entry.run(checked)));
  return [...checks, ...failed];
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
    ...warnings.map(configWarning),
    ...unheeded.map((field) =>
      field.protects
        ? failure("config", ignoredFieldError(field), field.hint)
        : warn("config", ignoredFieldText(field), field.hint),
    ),
  ];
}

/** A warning with its fix after a semicolon, if it names one. */
function configWarning(warning: string): Check {
  const [detail = warning, fix = "see graph-serve config print --origin"] = warning.split(/; (.*)/s);
  return warn("config", detail, fix);
}

/** Graphs that are loaded have their own checks. */
function namedGraphs({ config, needs, withoutGraphs: status }: Checked): Check[] {
  const ids = Object.keys(config.settings.graphs);
  if (ids.length > 0) return needs.includes("graphs") ? [] : [ok("graphs", `${ids.join(", ")}, not loaded`)];
  const fix = "add one to `graphs`, or create a project: graph-serve init my-agent";
  return [{ check: "graphs", status, detail: "no graphs are configured", ...(status !== "ok" && { fix }) }];
}

/** Settings that a server refuses because they contradict each other. */
function contradictions({ settings }: LoadedConfig): Check[] {
  return [assertQueue, assertProcesses, assertRecording, assertWatchdog, assertMetrics].flatMap((assert) => {
    try {
      assert(settings);
      return [];
    } catch (error) {
      return [failure("settings", error, "see graph-serve config print --origin")];
    }
  });
}
