/** Repeats stored runs, and prints what differs. */
import { resolve } from "node:path";
import { parseBudget } from "../../support/budgets/budget.js";
import { ConfigError, InvalidRequestError } from "../../support/errors.js";
import { createRedaction } from "../../testing/cases/redact.js";
import { ShadowBudget } from "../../testing/shadow/budget.js";
import { type ModelMode, ShadowCalls } from "../../testing/shadow/calls.js";
import { shadow, type ShadowResult } from "../../testing/shadow/shadow.js";
import { findUnits } from "../../testing/shadow/units.js";
import { timeOf, wholeNumber } from "../session/options.js";
import { createReport } from "../session/report-file.js";
import type { Session } from "../session/session.js";
import { abortOnStop, SIGNAL_EXITS } from "../session/stop.js";
import { printJsonList } from "../terminal/json-list.js";
import { type GraphCase, junitByGraph } from "../versions/junit.js";
import { Baseline } from "./baseline.js";
import { shadowPage } from "./page.js";
import { saveShadow } from "./saved.js";
import { openPlaces, type ShadowPlaces, type SourceFlags } from "./open.js";
import {
  isDifferent,
  junitCase,
  type JudgedResult,
  rerunSummary,
  resultLines,
  shadowSummary,
  Tally,
} from "./report.js";

export interface ShadowFlags extends SourceFlags {
  since?: string;
  sample?: string;
  models: ModelMode;
  budget?: string;
  timeout: string;
  junit?: string;
  html?: string;
  studio?: boolean;
  ci?: boolean;
  status?: "success" | "error" | "interrupted";
  accept?: string;
  baseline?: string;
}

const FAILED_EXIT = 1;

/** `shadow`: with `--ci`, exit code 1 if a run differs. */
export async function shadowRuns(session: Session, flags: ShadowFlags): Promise<number> {
  const { print } = session;
  const tally = new Tally();
  return executed(session, flags, { tally, summaryOf: shadowSummary }, (places) => {
    if (tally.differing > 0 && !places.hasControl)
      print.note(
        "the runs were compared with what is stored; --against compares with the configured graph too",
      );
    return flags.ci === true && tally.differing > 0 ? FAILED_EXIT : 0;
  });
}

/** `runs rerun`: exit code 1 if a run fails or differs. */
export async function rerun(session: Session, flags: ShadowFlags): Promise<number> {
  const tally = new Tally();
  return executed(session, flags, { tally, summaryOf: rerunSummary }, () =>
    tally.failing + tally.differing > 0 ? FAILED_EXIT : 0,
  );
}

/** Repeats the runs, prints their results, and returns the exit code of `end`. */
async function executed(
  session: Session,
  flags: ShadowFlags,
  { tally, summaryOf }: { tally: Tally; summaryOf: (tally: Tally) => string },
  end: (places: ShadowPlaces) => number,
): Promise<number> {
  const { io, print } = session;
  const since = flags.since === undefined ? undefined : timeOf("--since", flags.since);
  const sample = flags.sample === undefined ? undefined : wholeNumber("--sample", flags.sample, 1);
  const timeoutSeconds = wholeNumber("--timeout", flags.timeout, 1, MOST_SECONDS);
  const budget = budgetOf(flags);
  const baseline = await Baseline.read(flags.baseline && resolve(io.cwd, flags.baseline));
  const junit = await createReport(session, flags.junit);
  const html = await createReport(session, flags.html);
  const places = await openPlaces(session, flags);
  const { source, graphs, graphId, config } = places;
  const redact = createRedaction(
    { ...process.env, ...io.env, ...config.env },
    config.settings.recording?.redact,
  );
  const calls = new ShadowCalls({ mode: flags.models, recorded: places.recorded, redact });
  const cases: GraphCase[] = [];
  const shown: JudgedResult[] = [];
  const stop = abortOnStop(io);
  const { signal } = stop;
  try {
    if (graphId !== undefined && !(await graphs(graphId)).target)
      throw new ConfigError(`graph ${JSON.stringify(graphId)} is not configured`);
    const units = await findUnits(source, { since, status: flags.status, graphId, sample });
    const executions = shadow(units, { source, graphs, calls, redact, budget, timeoutSeconds, signal });
    const results = tally.counted(judged(executions, baseline), (one) => {
      if (junit) cases.push(junitCase(one));
      if (html || flags.studio) shown.push(one);
    });
    if (print.isJson) await printJsonList(print, results);
    else
      for await (const result of results)
        if (isDifferent(result)) for (const line of resultLines(print, result)) print.data(line);
    await junit?.write(junitByGraph(cases));
    await html?.write(shadowPage(summaryOf(tally), shown));
    if (flags.studio) {
      const { against = null } = flags;
      await saveShadow(config.baseDir, { against, summary: summaryOf(tally), results: shown });
      print.note("saved for the Studio: graph-serve studio, or the running dev, Shadow runs");
    }
    if (signal.aborted) return SIGNAL_EXITS[String(signal.reason)] ?? FAILED_EXIT;
    print.note(summaryOf(tally) + (budget ? ` (used ${budget.text})` : ""));
    const code = end(places);
    if (flags.accept === undefined) return code;
    const count = await baseline.write(resolve(io.cwd, flags.accept));
    print.note(`wrote ${flags.accept}: ${count} ${count === 1 ? "difference" : "differences"} to accept`);
    return code;
  } finally {
    calls.close();
    await places.close();
    stop.dispose();
  }
}

/** @throws InvalidRequestError if it is not an amount, or calls are not billed (`invalid_request`) */
function budgetOf({ budget, models }: ShadowFlags): ShadowBudget | undefined {
  if (budget === undefined) return undefined;
  const limit = parseBudget(budget);
  if (!limit || limit.amount === 0)
    throw new InvalidRequestError(`--budget ${JSON.stringify(budget)} is not an amount`, undefined, {
      hint: 'use an amount above 0 such as "0.50 USD" or "200k tokens"',
    });
  if (models === "live") return new ShadowBudget(limit);
  throw new InvalidRequestError(
    `--budget needs --models live: with ${models}, recorded responses are used`,
    undefined,
    {
      hint: "add --models live, or remove --budget",
    },
  );
}

async function* judged(
  results: AsyncIterable<ShadowResult>,
  baseline: Baseline,
): AsyncGenerator<JudgedResult> {
  for await (const result of results) yield { ...result, accepted: baseline.accepts(result) };
}

/** A day, in seconds. */
const MOST_SECONDS = 86_400;
