/** The official SDK's methods one by one, against the list from which the documentation is generated. */
import { Client } from "@langchain/langgraph-sdk";
import { Client as Client2 } from "langgraph-sdk-2";
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

type Sdk = new (config: ConstructorParameters<typeof Client>[0]) => Client;

/** Line 2.0.0 of npm, which has the code of 1.6. The calls of the list are part of its types too. */
const SDK_2 = Client2 as unknown as Sdk;
const LACKING_IN_2 = ["runs.cancelMany", "threads.prune", "threads.stream"];

/** It also ignores `returnMinimal`. */
const isIn2 = (row: SdkMethod) =>
  !LACKING_IN_2.includes(methodOf(row)) && row.call !== "threads.update with returnMinimal";

const SDKS: [string, Sdk, readonly SdkMethod[]][] = [
  ["the SDK", Client, SDK_METHODS],
  ["SDK 2.0.0", SDK_2, SDK_METHODS.filter(isIn2)],
];

async function open(Sdk: Sdk) {
  const { server, client } = await openClient();
  const statuses: number[] = [];
  const watchedFetch: typeof fetch = async (url, init) => {
    const response = await fetch(url, init);
    statuses.push(response.status);
    return response;
  };
  const watched = new Sdk({
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

  it("all are part of SDK 2.0.0, except those that it lacks", () => {
    const own = offered(new SDK_2({ apiUrl: "http://127.0.0.1" }));
    const listed = [...new Set(SDK_METHODS.map(methodOf))];
    expect(listed.filter((method) => !own.includes(method)).sort()).toEqual(LACKING_IN_2);
    expect(own.filter((method) => !listed.includes(method))).toEqual([]);
  });

  it("no call is listed twice", () => {
    const calls = SDK_METHODS.map(({ call }) => call);
    expect(calls).toEqual([...new Set(calls)]);
  });

  it.each(
    SDKS.flatMap(([name, Sdk, rows]) =>
      rows.map(
        ({ call, outcome, status, make }) => [`${name}, ${call}`, outcome, status, Sdk, make] as const,
      ),
    ),
  )("%s: %s (%i)", async (_call, outcome, status, Sdk, make) => {
    const { client, watched, statuses, given } = await open(Sdk);
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
