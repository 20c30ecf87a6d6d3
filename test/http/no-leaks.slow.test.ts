/** Calls every route and checks that values outside a graph's output schema are never returned. */
import { describe, expect, it } from "vitest";
import { ROUTES } from "../../src/http/route-table.js";
import { startTestServer } from "../helpers/app.js";
import * as exported from "./no-leaks/graphs.js";
import {
  walkAnswers,
  walkAssistant,
  walkChanges,
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

/**
 * Returns the leaks found by `walk`. Message frames are only checked under `hold_messages`: otherwise they
 * are streamed unfiltered.
 */
async function sightsOf(hold_messages: boolean, walk: (walker: Walker) => Promise<void>): Promise<string[]> {
  const settings = {
    ...{ list_all_assistants: true, assistants: "managed" as const },
    ...{ metrics: true, crons: true, webhooks, hold_messages },
  };
  const walker = new Walker(await startTestServer({ graphs, settings }), { messages: hold_messages });
  await walk(walker);
  for (const route of walker.routes) routes.add(route);
  expect(walker.heard).not.toBe("");
  return [...walker.sights].sort();
}

describe.each(WALKED)("hidden values of $id", (walked) => {
  type Walk = [string, (walker: Walker, walked: exported.Walked) => Promise<void>];
  const streaming: Walk[] = [
    ["a stream", walkStreams],
    ["the result of a waited run", walkAnswers],
    ["a joined run", walkJoins],
    ["thread events", walkEvents],
  ];
  const walks: Walk[] = [
    ...streaming,
    ["the graph description", walkAssistant],
    ["a thread, its history and its copies", walkThread],
    ["the result of a write", walkWrites],
    ["the stream of changes", walkChanges],
    ["a cron", walkCrons],
    ["an undeliverable webhook", walkWebhooks],
  ];
  it.each(walks)("hidden values are absent from %s", async (_, walk) => {
    expect(await sightsOf(false, (walker) => walk(walker, walked))).toEqual([]);
  });
  it.each(streaming)(
    "hidden values are absent from %s under hold_messages, even from messages",
    async (_, walk) => {
      expect(await sightsOf(true, (walker) => walk(walker, walked))).toEqual([]);
    },
  );
});

it("hidden values are absent from all other routes", async () => {
  expect(await sightsOf(true, walkTheRest)).toEqual([]);
});

it("the search for hidden values covers every route", () => {
  expect(ROUTES.map(({ id }) => id).filter((id) => !routes.has(id))).toEqual([]);
});

it.each(WALKED)("hidden values of $id appear on the command line only with --raw", async (walked) => {
  const offline = await openOffline(walked);
  expect(await walkOffline(offline)).toEqual([]);
  expect(await walkRaw(offline)).not.toEqual([]);
});
