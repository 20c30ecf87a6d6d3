/** Runs a case twice, once normally and once with an injected failure and a resume; both must have the same outcome. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { localClient } from "../../../client/local.js";
import type { LoadedConfig } from "../../../config/load.js";
import { isRecord } from "../../../models/common.js";
import type { RunCreateRequest } from "../../../models/run.js";
import { GraphServeError, InvalidRequestError } from "../../../support/errors.js";
import { errorMessage } from "../../../support/errors/thrown.js";
import { newId } from "../../../support/ids.js";
import { type CaseStep, folderOf } from "../../../testing/cases/case-files.js";
import { stepRequest, type Tested } from "../../../testing/case.js";
import { graphOfRequest } from "../../../testing/graphs.js";
import { firstDifference, normalized } from "../../../testing/cases/normalized.js";
import { Observation } from "../../../testing/observation.js";
import type { CaseResult, Failure } from "../../../testing/cases/result.js";
import type { PlannedCase } from "../../../testing/suite.js";
import { inMemory } from "../../../config/local-settings.js";
import { openConfigured } from "../../session/open.js";
import type { Session } from "../../session/session.js";
import type { SuiteReport } from "../reporters/reporter.js";
import { killRunAt, type PrintedEvent } from "./killed-run.js";

interface FaultContext {
  session: Session;
  config: LoadedConfig;
  fault: InjectedFault;
  /** Separate folder for the databases of this case. */
  folder: string;
  signal: AbortSignal;
}

/** The comparable parts of a case's outcome. */
interface Ending {
  status: string;
  values: unknown;
}

interface FaultOutcome {
  failures: Failure[];
  note?: string;
  /** True if the run ended before the failure, so that nothing was tested. */
  missed?: boolean;
  /** Error of a graph, storage or server that failed to open. */
  fault?: GraphServeError;
}

async function runWithFault({ file, one }: PlannedCase, context: FaultContext): Promise<FaultOutcome> {
  const request = {
    folder: folderOf(file),
    ...(file.source.graph !== undefined && { graph: file.source.graph }),
  };
  // Expectations are checked by tests without a fault; here only the two outcomes are compared.
  const steps = one.steps.map((step): CaseStep => ({ ...step, expect: undefined }));
  const runs = new DurableRuns(graphOfRequest(context.config, request), steps, context);
  const fail = (message: string, values: object = {}): FaultOutcome => ({
    failures: [
      { expectation: `fault ${faultText(context.fault)}`, message, location: one.location, ...values },
    ],
  });
  try {
    const undisturbed = await runs.undisturbed();
    const broken = await runs.broken();
    if (!broken) return { failures: [], missed: true, note: "the run ended before the failure was injected" };
    const difference = firstDifference(normalized(undisturbed), normalized(broken), []);
    if (!difference) return { failures: [], note: `failure at ${faultText(context.fault)}, same outcome` };
    const { path, expected, actual } = difference;
    return fail(`the resumed run has a different outcome: ${path.join(".")} differs`, { expected, actual });
  } catch (error) {
    if (context.signal.aborted) return { failures: [] };
    const { failures } = fail(errorMessage(error));
    return { failures, ...(error instanceof GraphServeError && { fault: error }) };
  }
}

class DurableRuns {
  readonly #graph: { id: string; source: string };
  readonly #steps: readonly CaseStep[];
  readonly #context: FaultContext;

  constructor(graph: { id: string; source: string }, steps: readonly CaseStep[], context: FaultContext) {
    this.#graph = graph;
    this.#steps = steps;
    this.#context = context;
  }

  undisturbed(): Promise<Ending> {
    return this.#with("undisturbed.db", (graph) => this.#finish(graph, newId(), this.#steps));
  }

  /** Undefined if the failure was not reached. */
  async broken(): Promise<Ending | undefined> {
    const { fault } = this.#context;
    const threadId = fault.kind === "disconnect" ? await this.#leave() : await this.#kill(fault);
    if (threadId === undefined) return undefined;
    // Open another service on the same storage, as after a restart.
    return this.#with("broken.db", async (graph) => {
      const { next, interrupts } = await graph.client.threads.getState(threadId);
      const isOpen = next.length > 0 && interrupts.length === 0;
      const goOn: CaseStep[] = isOpen ? [{ input: null, locate: () => ({ file: "" }) }] : [];
      return this.#finish(graph, threadId, [...goOn, ...this.#steps.slice(1)]);
    });
  }

  /** Disconnects the client after the first node. */
  #leave(): Promise<string | undefined> {
    return this.#with("broken.db", async (graph) => {
      const [step] = this.#steps;
      if (!step) return undefined;
      const threadId = newId();
      const stay = new AbortController();
      const request = await stepRequest(step, { graph, threadId });
      for await (const { event, data } of graph.client.runs.stream(threadId, request, stay.signal))
        if (event === "tasks" && isResult(data)) stay.abort();
      const { next } = await graph.client.threads.getState(threadId);
      return stay.signal.aborted && next.length > 0 ? threadId : undefined;
    });
  }

  /** Kills the process with a signal that it cannot handle, so that it cannot clean up. */
  async #kill(fault: InjectedFault): Promise<string | undefined> {
    const { session, config, signal } = this.#context;
    const [step] = this.#steps;
    const { file, baseDir } = config;
    const { threadId, wasKilled } = await killRunAt({
      argv: [
        "run",
        this.#graph.source,
        ...(file === undefined ? [] : ["--config", file]),
        // Include messages, because models behave differently when they are not streamed.
        ...["--jsonl", "--stream", "tasks,checkpoints,messages-tuple", "--durability", "sync"],
        ...["--input", JSON.stringify(step?.input ?? null)],
        ...(step?.config ? ["--run-config", JSON.stringify(step.config)] : []),
        ...(step?.context ? ["--context", JSON.stringify(step.context)] : []),
        ...["--db", this.#database("broken.db")],
      ],
      cwd: baseDir,
      env: session.io.env,
      signal,
      isPlace: placeOf(fault),
    });
    return wasKilled ? threadId : undefined;
  }

  async #finish(graph: Tested, threadId: string, steps: readonly CaseStep[]): Promise<Ending> {
    let status = "success";
    for (const step of steps) {
      const run = await this.#drain(graph, threadId, await stepRequest(step, { graph, threadId }));
      status = run.error === undefined ? run.status : `${run.status}: ${run.error}`;
    }
    return { status, values: (await graph.client.threads.getState(threadId)).values };
  }

  async #drain({ client }: Tested, threadId: string, request: RunCreateRequest): Promise<Observation> {
    const run = new Observation();
    for await (const event of client.runs.stream(threadId, request, this.#context.signal)) run.take(event);
    return run;
  }

  #database(name: string): string {
    return join(this.#context.folder, name);
  }

  async #with<T>(database: string, work: (graph: Tested) => Promise<T>): Promise<T> {
    const { id, source } = this.#graph;
    const { settings, ...rest } = this.#context.config;
    const service = await openConfigured({
      ...rest,
      settings: {
        ...inMemory(settings),
        graphs: { [id]: source },
        default_assistant_id: id,
        checkpointer_scheme: "sqlite",
        checkpointer_uri: this.#database(database),
      },
    });
    try {
      return await work({ client: localClient(service), assistantId: id });
    } finally {
      await service.close(0);
    }
  }
}

const isResult = (task: unknown): boolean => isRecord(task) && "result" in task;

/** Returns a predicate for the event at which the process is killed. */
function placeOf(fault: InjectedFault): (event: PrintedEvent) => boolean {
  let hasEnded = false;
  return ({ event, data }) => {
    if (!isRecord(data)) return false;
    if (fault.kind !== "kill-after") {
      const { step } = isRecord(data.metadata) ? data.metadata : {};
      return event === "checkpoints" && typeof step === "number" && step >= 1;
    }
    // The node's writes are stored when the next superstep starts, or when the run ends.
    const isNext = event === "end" || (event === "tasks" && !isResult(data));
    if (hasEnded && isNext) return true;
    hasEnded ||= event === "tasks" && data.name === fault.node && isResult(data);
    return false;
  };
}

// `test --fault`: verifies that graphs can be stopped and resumed safely.

interface FaultPassOptions {
  fault: string;
  timeoutSeconds: number;
  signal: AbortSignal;
  onResult: (result: CaseResult) => void;
}

/** @throws InvalidRequestError for an unknown fault (`invalid_request`) */
export async function faultPass(
  session: Session,
  config: LoadedConfig,
  planned: readonly PlannedCase[],
  { fault: text, timeoutSeconds, signal, onResult }: FaultPassOptions,
): Promise<SuiteReport> {
  const fault = parseInjectedFault(text);
  const results: CaseResult[] = [];
  const began = performance.now();
  const root = await mkdtemp(join(tmpdir(), "graph-serve-fault-"));
  try {
    for (const [index, plan] of planned.entries()) {
      if (signal.aborted) break;
      const start = performance.now();
      const why = whySkipped(plan);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]);
      const folder = await mkdtemp(join(root, `${index}-`));
      const outcome =
        why === undefined
          ? await runWithFault(plan, { session, config, fault, folder, signal: limit })
          : { failures: [], note: why };
      const result = resultOf(plan, outcome, why === undefined, performance.now() - start);
      if (limit.aborted && !signal.aborted) addTimeout(result, plan, timeoutSeconds);
      results.push(result);
      onResult(result);
    }
    return reportOf(results, text, performance.now() - began, signal);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function reportOf(cases: CaseResult[], fault: string, durationMs: number, signal: AbortSignal): SuiteReport {
  const isShown = signal.aborted || cases.some(({ status }) => status !== "skipped");
  return {
    cases,
    durationMs,
    faults: isShown ? [] : [`no case reached the failure ${fault}`],
    ...(signal.aborted && { stoppedBy: String(signal.reason) }),
  };
}

function whySkipped({ file, one }: PlannedCase): string | undefined {
  if (one.skip) return "skip";
  if (file.source.mock !== undefined)
    return "a resumed run repeats model calls, which the recording does not contain";
  return one.steps[0]?.input === undefined ? "its first step has no input" : undefined;
}

function resultOf(
  { file, one }: PlannedCase,
  { missed, ...outcome }: FaultOutcome,
  ran: boolean,
  durationMs: number,
): CaseResult {
  return {
    file: file.file,
    name: one.name,
    graph: file.source.graph ?? "",
    status: !ran || missed ? "skipped" : outcome.failures.length > 0 ? "failed" : "passed",
    durationMs,
    attempts: 1,
    nodes: [],
    tokens: 0,
    ...outcome,
  };
}

function addTimeout(result: CaseResult, { one }: PlannedCase, seconds: number): void {
  result.status = "failed";
  result.failures = [
    {
      expectation: "timeout",
      message: `the case did not finish within ${seconds} s`,
      location: one.location,
    },
  ];
}

/** Where a failure is injected. */
export type InjectedFault =
  | { kind: "kill-after"; node: string }
  /** The process dies as it writes a checkpoint. */
  | { kind: "checkpoint-write" }
  /** The client leaves in the middle. */
  | { kind: "disconnect" };

/** @throws InvalidRequestError (`invalid_request`) */
export function parseInjectedFault(text: string): InjectedFault {
  const node = /^kill-after=(.+)$/.exec(text)?.[1];
  if (node !== undefined) return { kind: "kill-after", node };
  if (text === "checkpoint-write" || text === "disconnect") return { kind: text };
  throw new InvalidRequestError(`unknown fault "${text}"`, undefined, {
    hint: "valid values: kill-after=NODE, checkpoint-write, disconnect",
  });
}

const faultText = (fault: InjectedFault): string =>
  fault.kind === "kill-after" ? `kill-after=${fault.node}` : fault.kind;
