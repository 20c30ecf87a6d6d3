/** The setting queue: postgres when pg-boss is missing or broken. */
import type { createRequire } from "node:module";
import { expect, it, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import { ConfigError } from "../../src/support/errors.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { withPostgres } from "../helpers/postgres.js";

const engine = vi.hoisted(() => ({ load: (): unknown => undefined }));
vi.mock("node:module", async (original) => {
  const module = await original<{ createRequire: typeof createRequire }>();
  const create = (from: string | URL) => {
    const require = module.createRequire(from);
    return Object.assign((id: string): unknown => (id === "pg-boss" ? engine.load() : require(id)), require);
  };
  return { ...module, default: module, createRequire: create };
});

const missing = () => {
  throw Object.assign(new Error("Cannot find module 'pg-boss'"), { code: "MODULE_NOT_FOUND" });
};
const broken = () => {
  throw new Error("no good");
};

withPostgres("a queue on pg-boss", (postgres) => {
  it.each([
    ["missing", missing, "queue postgres: the package pg-boss is not installed", "npm install pg-boss@12"],
    ["broken", broken, "queue postgres: pg-boss does not load: no good", undefined],
  ])("a %s package is a configuration error", async (_what, load, message, hint) => {
    engine.load = load;
    const { max_queued_runs: _, ...storage } = postgres.options();
    const settings = { ...storage, queue: "postgres", stream: "postgres" } as const;
    const error = await openService({ graphs: { chat }, settings }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toBe(message);
    if (hint) expect((error as ConfigError).hint).toContain(hint);
  });
});
