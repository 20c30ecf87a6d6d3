/** One walk through every exit of the server: what a graph's output leaves out is in no answer, whatever is asked. */
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/route-table.js";
import { startTestServer } from "../helpers/app.js";
import * as exported from "./no-leaks/graphs.js";
import {
  walkAnswers,
  walkAssistant,
  walkCrons,
  walkWebhooks,
  walkEvents,
  walkJoins,
  walkStreams,
  walkTheRest,
  walkThread,
  walkWrites,
} from "./no-leaks/http-exits.js";
import { openOffline, walkOffline, walkRaw } from "./no-leaks/offline-exits.js";
import { Walker } from "./no-leaks/walker.js";
import { webhooks } from "../helpers/webhook-receiver.js";

const { WALKED, ...graphs } = exported;
const routes = new Set<string>();

/** Whether messages are held: else they are streamed as the graphs make them, and not looked at. */
async function sightsOf(hold_messages: boolean, walk: (walker: Walker) => Promise<void>): Promise<string[]> {
  const settings = { list_all_assistants: true, metrics: true, crons: true, webhooks, hold_messages };
  const walker = new Walker(await startTestServer({ graphs, settings }), { messages: hold_messages });
  await walk(walker);
  for (const route of walker.routes) routes.add(route);
  expect(walker.heard).not.toBe("");
  return [...walker.sights].sort();
}

describe.each(WALKED)("what $id hides", (walked) => {
  type Walk = [string, (walker: Walker, walked: exported.Walked) => Promise<void>];
  const streaming: Walk[] = [
    ["a stream", walkStreams],
    ["an answer that was waited for", walkAnswers],
    ["a run that is joined", walkJoins],
    ["the events of a thread", walkEvents],
  ];
  const walks: Walk[] = [
    ...streaming,
    ["the description of the graph", walkAssistant],
    ["a thread, its history and its copies", walkThread],
    ["the answer to a write", walkWrites],
    ["a cron", walkCrons],
    ["a webhook that does not arrive", walkWebhooks],
  ];
  it.each(walks)("is not in %s", async (_, walk) => {
    expect(await sightsOf(false, (walker) => walk(walker, walked))).toEqual([]);
  });
  it.each(streaming)("is not in %s under hold_messages, not even in messages", async (_, walk) => {
    expect(await sightsOf(true, (walker) => walk(walker, walked))).toEqual([]);
  });
});

it("what graphs hide is in no answer of any other route", async () => {
  expect(await sightsOf(true, walkTheRest)).toEqual([]);
});

it("the walk for hidden values asked every route", () => {
  expect(ROUTES.map(({ id }) => id).filter((id) => !routes.has(id))).toEqual([]);
});

it.each(WALKED)("what $id hides is on the command line with --raw alone", async (walked) => {
  const offline = await openOffline(walked);
  expect(await walkOffline(offline)).toEqual([]);
  expect(await walkRaw(offline)).not.toEqual([]);
});
