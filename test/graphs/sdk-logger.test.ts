import { join, resolve } from "node:path";
import { getLogger } from "@langchain/langgraph-sdk/logging";
import { afterEach, describe, expect, it } from "vitest";
import { openService } from "../../src/service/open.js";
import { openTestService, recordingLogger } from "../helpers/service.js";

const file = join(resolve(import.meta.dirname, "../fixtures/graphs"), "logging.ts");
const graphs = { agent: `${file}:graph` };
const PLACE = Symbol.for("langgraph.api.sdk-logger");

afterEach(() => void delete (globalThis as Record<symbol, unknown>)[PLACE]);

describe("getLogger() in a graph", () => {
  it("returns the server's logger while the graph is loaded", async () => {
    const logger = recordingLogger();
    await openTestService({ graphs, logger });
    expect(logger.lines).toEqual([
      { level: "info", message: "loaded", fields: { version: 3 } },
      { level: "debug", message: "chained", fields: {} },
    ]);
  });

  it("writes a line for each call, with its run and node", async () => {
    const logger = recordingLogger();
    const service = await openTestService({ graphs, logger });
    const { thread_id } = await service.threads.create({});
    logger.lines.length = 0;
    const { run_id } = await service.runs.create(thread_id, { assistant_id: "agent", input: { n: 0 } });
    const of = { run_id, node: "speak" };
    expect(logger.lines).toEqual([
      { level: "error", message: "an error", fields: { err: new RangeError("an error"), ...of } },
      { level: "warn", message: "with an error", fields: { err: new TypeError("inner"), ...of } },
      { level: "info", message: "as an object", fields: { path: "/x", ...of } },
      { level: "info", message: "with more", fields: { a: 1, b: 2, details: ["text", 7], ...of } },
      { level: "debug", message: "for the curious", fields: of },
      { level: "debug", message: "undefined", fields: of },
    ]);
  });
});

describe("the process-wide logger", () => {
  it("belongs to the service opened last, until that service is closed", async () => {
    const [first, second] = [recordingLogger(), recordingLogger()];
    const one = await openService({ graphs, logger: first });
    const two = await openService({ graphs, logger: second });
    getLogger().info("to the second");
    await one.close(0);
    getLogger().info("still to the second");
    await two.close(0);
    expect(second.of("info").slice(-2)).toEqual(["to the second", "still to the second"]);
    expect(first.of("info")).toEqual(["loaded"]);
    expect(() => getLogger()).toThrow("Logger not available");
  });

  it("is removed if the service cannot be opened", async () => {
    await expect(openService({ graphs: { agent: "./nowhere.ts" } })).rejects.toThrow("not found");
    expect(() => getLogger()).toThrow("Logger not available");
  });

  it("of another program is not replaced", async () => {
    const theirs = { info: () => undefined };
    (globalThis as Record<symbol, unknown>)[PLACE] = theirs;
    const service = await openService({ graphs: { agent: `${join(file, "../steps.ts")}:graph` } });
    expect(getLogger()).toBe(theirs);
    await service.close(0);
    expect(getLogger()).toBe(theirs);
  });
});
