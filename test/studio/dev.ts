/** Runs `dev` in a temporary project with its Studio token. */
import { once } from "node:events";
import { type IncomingMessage, request as send } from "node:http";
import { afterEach, beforeEach, expect } from "vitest";
import { createProject, type Project, type RunningCli, startCli } from "../cli/harness.js";

interface DevOptions {
  env?: Record<string, string>;
  flags?: readonly string[];
}

/** Creates a project for each test of a file. Servers started in it are stopped at the end of the test. */
export function useDev(files: () => Record<string, string>) {
  let project: Project;
  const running: RunningCli[] = [];
  beforeEach(async () => {
    project = await createProject(files());
  });
  afterEach(async () => {
    for (const each of running.splice(0)) {
      each.stop();
      expect(await each.exit).toBe(0);
    }
    await project.remove();
  });
  return {
    get project(): Project {
      return project;
    },
    async start({ env = {}, flags = [] }: DevOptions = {}): Promise<{ url: string; token: string }> {
      const dev = startCli(["dev", "./graph.ts", "-p", "0", ...flags], { cwd: project.dir, env });
      running.push(dev);
      const failed = dev.exit.then((code) => {
        throw new Error(`dev ended with ${code}: ${dev.stderr.text}`);
      });
      const [, url = "", token = ""] = await Promise.race([
        dev.stderr.until(/studio (http:\S+)\/studio\/#token=([\da-f]{32})\n/),
        failed,
      ]);
      return { url, token };
    },
  };
}

/** A graph whose output schema hides its plan and API key, which its subgraph also has. It answers with `answer`. */
export const hidingGraph = (
  answer: string,
): string => `import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ question: Annotation, plan: Annotation, api_key: Annotation, answer: Annotation });
const Output = Annotation.Root({ answer: Annotation });
const inner = new StateGraph({ stateSchema: State, output: Output })
  .addNode("think", () => ({ plan: "think in secret" }))
  .addNode("speak", () => ({ answer: ${JSON.stringify(answer)} }))
  .addEdge(START, "think").addEdge("think", "speak").addEdge("speak", END)
  .compile();
export const graph = new StateGraph({ stateSchema: State, output: Output })
  .addNode("prepare", () => ({ plan: "plan in secret", api_key: "sk-0123456789abcdef0123" }))
  .addNode("inner", inner)
  .addEdge(START, "prepare").addEdge("prepare", "inner").addEdge("inner", END)
  .compile();
`;

/** The header that browsers send for requests of the page itself. */
export const OWN = { "sec-fetch-site": "same-origin" };

interface HelperAnswer {
  status: number;
  body: Record<string, unknown>;
}

/** Sends a request as the page does; `fetch` cannot set headers that are reserved for browsers. */
export async function askHelper(
  url: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<HelperAnswer> {
  const { hostname: host, port } = new URL(url);
  const method = body === undefined ? "GET" : "POST";
  const [response] = (await once(send({ host, port, path, headers, method }).end(body), "response")) as [
    IncomingMessage,
  ];
  const isJson = String(response.headers["content-type"]).startsWith("application/json");
  const parts: Buffer[] = [];
  if (!isJson) response.resume();
  else for await (const part of response) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return {
    status: response.statusCode ?? 0,
    body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
}

/** A graph whose node `add_up` fails, because the order has no lines. */
export const failingGraph = `import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
const State = Annotation.Root({ order: Annotation, total: Annotation });
const readOrder = () => ({ order: { id: 4711 } });
const addUp = ({ order }) => {
  return { total: order.lines.length };
};
export const graph = new StateGraph(State)
  .addNode("read", readOrder)
  .addNode("add_up", addUp)
  .addEdge(START, "read").addEdge("read", "add_up").addEdge("add_up", END)
  .compile();
`;

/** Runs the graph on a new or existing thread and returns the ids after the run has ended. */
export async function ran(
  url: string,
  input: unknown,
  { threadId, ...more }: { threadId?: string; command?: object } = {},
): Promise<{ thread_id: string; run_id: string }> {
  const post = async (path: string, body: object) =>
    (await (await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify(body) })).json()) as Record<
      string,
      string
    >;
  const thread_id = threadId ?? (await post("/threads", {})).thread_id ?? "";
  const { run_id = "" } = await post(`/threads/${thread_id}/runs`, { assistant_id: "agent", input, ...more });
  return { thread_id, run_id };
}
