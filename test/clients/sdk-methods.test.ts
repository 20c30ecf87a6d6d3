/** The official SDK's methods one by one, against the list from which the documentation is generated. */
import { Client } from "@langchain/langgraph-sdk";
import { describe, expect, it } from "vitest";
import { gateOf } from "../fixtures/gates.js";
import { newId } from "../../src/support/ids.js";
import { openClient, says } from "./open.js";
import { methodOf, SDK_METHODS, type Given, type SdkMethod } from "./sdk-methods.js";

/** The methods that belong to one group of the client, without the shared request methods. */
function methodsOf(group: object): string[] {
  const own = Object.getPrototypeOf(group) as object;
  return Object.getOwnPropertyNames(own).filter((name) => name !== "constructor");
}

/** Every method of a client, by reflection. */
function offered(client: Client): string[] {
  return Object.entries(client).flatMap(([name, group]: [string, unknown]) =>
    typeof group === "object" && group !== null ? methodsOf(group).map((method) => `${name}.${method}`) : [],
  );
}

async function open() {
  const { server, client } = await openClient();
  const statuses: number[] = [];
  const watchedFetch: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return response;
  };
  const watched = new Client({
    apiUrl: server.url,
    apiKey: null,
    callerOptions: { fetch: watchedFetch },
  });
  const gate = newId();
  const [{ thread_id: thread }, { thread_id: busyThread }] = [
    await client.threads.create(),
    await client.threads.create(),
  ];
  const { run_id: run } = await client.runs.create(thread, "chat", { input: says("hello") });
  const body = { assistant_id: "gate", input: { gate } };
  const answer = await server.request("POST", `/threads/${busyThread}/runs`, body, {
    prefer: "respond-async",
  });
  await gateOf(gate).entered;
  const { run_id: busyRun } = answer.body as { run_id: string };
  const given: Given = {
    thread,
    run,
    busyThread,
    busyRun,
    open: () => gateOf(gate).open(),
    fetch: watchedFetch,
  };
  return { client, watched, statuses, given };
}

describe("the SDK's methods", () => {
  it("all appear in the list", () => {
    const listed = [...new Set(SDK_METHODS.map(methodOf))];
    expect(listed.sort()).toEqual(offered(new Client({ apiUrl: "http://127.0.0.1" })).sort());
  });

  it("no call is listed twice", () => {
    const calls = SDK_METHODS.map(({ call }) => call);
    expect(calls).toEqual([...new Set(calls)]);
  });

  it.each(
    SDK_METHODS.map((row): [string, string, number, SdkMethod["make"]] => [
      row.call,
      row.outcome,
      row.status,
      row.make,
    ]),
  )("%s: %s (%i)", async (_call, outcome, status, make) => {
    const { client, watched, statuses, given } = await open();
    const before = await client.threads.get(given.thread);
    const asked = statuses.length;
    const made = make(watched, given);
    if (outcome === "works") {
      await made;
    } else {
      await expect(made).rejects.toThrow();
      expect(await client.threads.get(given.thread)).toEqual(before);
      expect((await client.runs.list(given.busyThread)).map((run) => run.status)).toEqual(["running"]);
      // Rejections must not be retried.
      expect(statuses).toHaveLength(asked + 1);
    }
    expect(statuses.at(-1)).toBe(status);
  });
});
