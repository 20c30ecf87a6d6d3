/** The metrics setting when prom-client is missing or broken. */
import type { createRequire } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { ConfigError } from "../../src/support/errors.js";
import { openService } from "../../src/service/open.js";
import { graph as chat } from "../fixtures/graphs/chat.js";

const prom = vi.hoisted(() => ({ load: (): unknown => undefined }));
vi.mock("node:module", async (original) => {
  const module = await original<{ createRequire: typeof createRequire }>();
  const create = (from: string | URL) => {
    const require = module.createRequire(from);
    return Object.assign(
      (id: string): unknown => (id === "prom-client" ? prom.load() : require(id)),
      require,
    );
  };
  return { ...module, default: module, createRequire: create };
});

const missing = () => {
  throw Object.assign(new Error("Cannot find module 'prom-client'"), { code: "MODULE_NOT_FOUND" });
};
const broken = () => {
  throw new Error("no good");
};

describe("metrics with the prom-client package", () => {
  it.each([
    ["missing", missing, "the package prom-client is not installed", "npm install prom-client"],
    ["broken", broken, "prom-client does not load: no good", undefined],
  ])("a %s package is a configuration error", async (_what, load, message, hint) => {
    prom.load = load;
    const error = await openService({ graphs: { chat }, settings: { metrics: true } }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as ConfigError).message).toContain(message);
    if (hint) expect((error as ConfigError).hint).toContain(hint);
  });
});
