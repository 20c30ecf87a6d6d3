/**
 * The official conformance suite of the Model Context Protocol, against a running server. Its scenarios call tools by name,
 * so the graphs here have those names. 0.1.13 is the last release that runs on Node 20.
 */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AIMessage } from "@langchain/core/messages";
import {
  interrupt,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { startTestServer } from "../helpers/app.js";

const SUITE = join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

const replying = (reply: (config: LangGraphRunnableConfig) => string) =>
  new StateGraph(MessagesAnnotation)
    .addNode("reply", (_, config) => ({ messages: [new AIMessage(reply(config))] }))
    .addEdge(START, "reply")
    .compile();

const graphs = {
  test_simple_text: replying(() => "This is a simple text response for testing."),
  test_error_handling: replying(() => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  test_tool_with_progress: replying(({ writer }) => {
    for (const done of [0, 50, 100]) writer?.({ done });
    return "done";
  }),
  test_elicitation: replying(() => `User response: ${JSON.stringify(interrupt("Who are you?"))}`),
};

const NO_PROMPTS = "the server offers no prompts";
const OWN_RESOURCES = "the resources are threads; the scenario reads its own URIs";
const TEXT_ONLY = "the result of a graph is text and data";

/** Scenarios that need what the server does not offer. */
const EXPECTED_FAILURES: Record<string, string> = {
  "logging-set-level": "the server sends no log messages to clients",
  "tools-call-with-logging": "the server sends no log messages to clients",
  "completion-complete": "the server completes no arguments",
  "tools-call-sampling": "graphs call their own models",
  "tools-call-image": TEXT_ONLY,
  "tools-call-audio": TEXT_ONLY,
  "tools-call-embedded-resource": TEXT_ONLY,
  "tools-call-mixed-content": TEXT_ONLY,
  "json-schema-2020-12": "the scenario expects one input schema, and a tool has that of its graph",
  "elicitation-sep1034-defaults": "the form of a question asks for one answer, without a default",
  "elicitation-sep1330-enums": "the form of a question asks for one answer",
  "resources-read-text": OWN_RESOURCES,
  "resources-read-binary": OWN_RESOURCES,
  "resources-templates-read": OWN_RESOURCES,
  "resources-subscribe": "threads cannot be subscribed to as resources",
  "resources-unsubscribe": "threads cannot be subscribed to as resources",
  "prompts-list": NO_PROMPTS,
  "prompts-get-simple": NO_PROMPTS,
  "prompts-get-with-args": NO_PROMPTS,
  "prompts-get-embedded-resource": NO_PROMPTS,
  "prompts-get-with-image": NO_PROMPTS,
};

interface Check {
  id: string;
  status: string;
  errorMessage?: string;
}

/** The checks of each scenario. */
async function runSuite(url: string): Promise<Record<string, Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), "graph-serve-conformance-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const argv = [SUITE, "server", "--url", url, "--suite", "all", "--output-dir", folder];
  // It exits with 1 if a scenario fails.
  await promisify(execFile)(process.execPath, argv, { timeout: 60_000 }).catch(() => undefined);
  const scenarios: Record<string, Check[]> = {};
  for (const name of await readdir(folder)) {
    const checks = JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8")) as Check[];
    scenarios[name.replace(/^server-(.*)-\d{4}-\d\d-\d\dT.*$/, "$1")] = checks;
  }
  return scenarios;
}

it(
  "passes the conformance suite of MCP, except for what it does not offer",
  { timeout: 90_000 },
  async () => {
    const { url } = await startTestServer({ graphs, settings: { mcp: true } });
    const scenarios = await runSuite(`${url}/mcp`);
    const failed = Object.entries(scenarios).filter(([, checks]) =>
      checks.some(({ status }) => status === "FAILURE"),
    );
    const why = failed
      .filter(([name]) => !(name in EXPECTED_FAILURES))
      .map(([name, checks]) => [name, checks.map(({ errorMessage }) => errorMessage)]);
    expect(why).toEqual([]);
    expect(failed.map(([name]) => name).sort()).toEqual(Object.keys(EXPECTED_FAILURES).sort());
    const passed = Object.keys(scenarios).filter((name) => !(name in EXPECTED_FAILURES));
    expect(passed.sort()).toEqual([
      "dns-rebinding-protection",
      "ping",
      "resources-list",
      "server-initialize",
      "server-sse-multiple-streams",
      "server-sse-polling",
      "tools-call-elicitation",
      "tools-call-error",
      "tools-call-simple-text",
      "tools-call-with-progress",
      "tools-list",
    ]);
  },
);
