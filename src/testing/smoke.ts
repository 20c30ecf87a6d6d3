/** What can be tested of a graph without a case file: it loads, draws, has its schemas, and runs once. */
import { errorMessage, GraphServeError } from "../errors.js";
import type { CaseFile } from "./case-files.js";
import type { Coverage } from "./coverage.js";
import type { Host, Hosts } from "./hosts.js";
import { minimalInput } from "./minimal-input.js";
import type { CaseResult } from "./result.js";
import { runSuite, type SuiteOptions } from "./run-suite.js";

export interface SmokeOptions extends Pick<SuiteOptions, "timeoutSeconds" | "signal" | "onResult"> {
  hosts: Hosts;
  coverage?: Coverage;
}

/** The checks of one graph; those behind a fault to load are not made. */
export async function smokeTest(graph: string, options: SmokeOptions): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const check = async (
    name: string,
    work: () => Promise<Partial<CaseResult> | undefined>,
  ): Promise<boolean> => {
    const result = await checked(graph, name, work);
    results.push(result);
    options.onResult?.(result);
    return result.status !== "failed";
  };
  let host: Host | undefined;
  const loads = await check("load", async () => {
    host = await options.hosts.host({ graph, folder: "." });
    return undefined;
  });
  if (!loads || !host || options.signal.aborted) return results;
  const { target, drawing } = host;
  await check("draw", () => Promise.resolve(nodesNote(drawing.nodes.length)));
  await check("schemas", async () => {
    const schemas = Object.entries(await target.schemas());
    const derived = schemas.flatMap(([name, schema]) =>
      name.endsWith("_schema") && schema ? [name.replace("_schema", "")] : [],
    );
    return { note: derived.join(" ") || "none" };
  });
  const ran = await smokeRun(graph, host, options);
  results.push(ran);
  options.onResult?.(ran);
  return results;
}

const nodesNote = (count: number): Partial<CaseResult> => ({ note: `${count - 2} nodes` });

async function checked(
  graph: string,
  name: string,
  work: () => Promise<Partial<CaseResult> | undefined>,
): Promise<CaseResult> {
  const start = performance.now();
  const result: CaseResult = {
    file: graph,
    name,
    graph,
    status: "passed",
    failures: [],
    durationMs: 0,
    attempts: 1,
    nodes: [],
    tokens: 0,
  };
  try {
    Object.assign(result, await work());
  } catch (error) {
    if (!(error instanceof GraphServeError)) throw error;
    const { location } = error;
    result.status = "failed";
    result.failures = [{ expectation: name, message: errorMessage(error), ...(location && { location }) }];
    result.fault = error;
  }
  return { ...result, durationMs: performance.now() - start };
}

/** One run with the smallest input that the schema allows. */
async function smokeRun(graph: string, host: Host, options: SmokeOptions): Promise<CaseResult> {
  const { input_schema } = await host.target.schemas();
  const derived = minimalInput(input_schema);
  if ("why" in derived) {
    return checked(graph, "run", () =>
      Promise.resolve({ status: "skipped", note: `no input can be derived: ${derived.why}; ${WRITE}` }),
    );
  }
  const file: CaseFile = {
    file: graph,
    source: { graph, cases: [] },
    cases: [],
  };
  const one = {
    name: "run",
    skip: false,
    location: { file: graph },
    steps: [{ input: derived.input, locate: () => ({ file: graph }) }],
  };
  const { cases } = await runSuite([{ file, one }], { ...options, onResult: undefined });
  return cases[0] as CaseResult;
}

const WRITE = "write a case file such as agent.graph.yaml with cases: [{ name: runs, input: {...} }]";
