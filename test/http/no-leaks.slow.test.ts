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

type Walk = (walker: Walker, walked: exported.Walked) => Promise<void>;

/**
 * Returns the leaks found by walks on one server. Message frames are only checked under `hold_messages`: otherwise they
 * are streamed unfiltered.
 */
async function sightsOf(
  hold_messages: boolean,
  walks: readonly ((walker: Walker) => Promise<void>)[],
): Promise<string[]> {
  const settings = {
    ...{ list_all_assistants: true, assistants: "managed" as const },
    ...{ metrics: true, crons: true, webhooks, hold_messages },
  };
  const server = await startTestServer({ graphs, settings });
  const sights: string[] = [];
  for (const walk of walks) {
    const walker = new Walker(server, { messages: hold_messages });
    await walk(walker);
    for (const route of walker.routes) routes.add(route);
    expect(walker.heard).not.toBe("");
    sights.push(...walker.sights);
  }
  return sights.sort();
}

const STREAMING: Walk[] = [walkStreams, walkAnswers, walkJoins, walkEvents];
/** The stream of changes is read first, before any other run could end it. */
const WALKS: Walk[] = [
  walkChanges,
  ...STREAMING,
  ...[walkAssistant, walkThread, walkWrites, walkCrons, walkWebhooks],
];

describe.each(WALKED)("hidden values of $id", (walked) => {
  const of = (walks: Walk[]) => walks.map((walk) => (walker: Walker) => walk(walker, walked));
  it("are absent from every answer", async () => {
    expect(await sightsOf(false, of(WALKS))).toEqual([]);
  });
  it("are absent from streams and results under hold_messages, even from messages", async () => {
    expect(await sightsOf(true, of(STREAMING))).toEqual([]);
  });
});

it("hidden values are absent from all other routes", async () => {
  expect(await sightsOf(true, [walkTheRest])).toEqual([]);
});

it("the search for hidden values covers every route", () => {
  expect(ROUTES.map(({ id }) => id).filter((id) => !routes.has(id))).toEqual([]);
});

it.each(WALKED)("hidden values of $id appear on the command line only with --raw", async (walked) => {
  const offline = await openOffline(walked);
  expect(await walkOffline(offline)).toEqual([]);
  expect(await walkRaw(offline)).not.toEqual([]);
});
