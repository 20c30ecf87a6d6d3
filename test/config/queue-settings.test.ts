/** Conflicting queue settings are rejected with a fix before anything is opened. */
import { describe, expect, it } from "vitest";
import type { Settings } from "../../src/config/settings.js";
import { openService } from "../../src/service/open.js";
import { graph } from "../fixtures/graphs/chat.js";

const postgres = {
  checkpointer_scheme: "postgres",
  checkpointer_uri: "postgresql://nobody@127.0.0.1:1/none",
} as const;

describe("conflicting queue settings", () => {
  it.each<[string, Partial<Settings>, string, string]>([
    ["role api without a queue", { role: "api" }, "role api needs a queue", "set queue to postgres"],
    [
      "role worker without a queue",
      { role: "worker" },
      "role worker needs a queue",
      "role to all, as graph-serve start does",
    ],
    ["a queue on memory", { queue: "postgres" }, "checkpointer_scheme is memory", "queue to none"],
    [
      "a queue on sqlite",
      { queue: "postgres", checkpointer_scheme: "sqlite" },
      "checkpointer_scheme is sqlite",
      "checkpointer_scheme to postgres",
    ],
    [
      "a worker with stream memory",
      { ...postgres, queue: "postgres", role: "worker" },
      "stream is memory",
      "set stream to redis or postgres",
    ],
    [
      "a queue with resume_runs false",
      { ...postgres, queue: "postgres", resume_runs: false },
      "resume_runs is false",
      "remove resume_runs",
    ],
  ])("a service with %s is rejected", async (_, settings, message, hint) => {
    await expect(openService({ graphs: { graph }, settings })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(message) as string,
      hint: expect.stringContaining(hint) as string,
    });
  });
});
