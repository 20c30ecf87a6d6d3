/** Fields of a langgraph.json that this server does not support must be reported. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig, type LoadedConfig } from "../../src/config/load.js";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-langgraph-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const text = (fields: object) => JSON.stringify({ graphs: { agent: "./a.ts:graph" }, ...fields }, null, 1);

async function load(fields: object, env: Record<string, string> = {}): Promise<LoadedConfig> {
  await writeFile(join(dir, "langgraph.json"), text(fields));
  return loadConfig({ cwd: dir, env });
}

/** Line number of the field's key. */
const lineOf = (fields: object, key: string) =>
  text(fields)
    .split("\n")
    .findIndex((row) => row.includes(`"${key}":`)) + 1;

describe("supported fields", () => {
  it("http.app sets the app in front of the routes", async () => {
    const { settings, origins, unheeded, warnings } = await load({ http: { app: "./src/app.ts:app" } });
    expect(settings.http_app).toBe("./src/app.ts:app");
    expect(origins.http_app).toEqual({ kind: "file", detail: `${join(dir, "langgraph.json")}:6` });
    expect([...unheeded, ...warnings]).toEqual([]);
  });

  it("http.disable_* fields disable groups of routes", async () => {
    const http = { disable_threads: true, disable_store: true, disable_meta: true, disable_runs: false };
    expect((await load({ http })).settings.disabled_routes).toEqual(["threads", "store", "meta"]);
    expect((await load({ http: { disable_runs: false } })).settings.disabled_routes).toEqual([]);
  });

  it.each([
    [{ http: { disable_store: "true" } }, "disable_store", "http.disable_store must be true or false"],
    [{ http: { app: 5 } }, "app", "http_app must be a string, it is 5"],
    [{ http: "x" }, "http", "http must be an object"],
    [{ http: { cors: [] } }, "cors", "http.cors must be an object"],
  ])("invalid values are rejected: %j", async (fields, key, message) => {
    await expect(load(fields)).rejects.toMatchObject({
      code: "config_invalid",
      message,
      location: { line: lineOf(fields, key) },
    });
  });
});

describe("unsupported security fields", () => {
  it.each([
    [{ auth: { path: "./auth.ts:auth" } }, "auth", "auth"],
    [{ auth: "./auth.ts" }, "auth", "auth"],
    [{ encryption: { path: "./secret.ts:encryption" } }, "encryption", "encryption"],
    [{ http: { apps: { "/a": "./a.ts:app" } } }, "http.apps", "apps"],
  ])("a security field is reported: %j", async (fields, name, key) => {
    const { unheeded } = await load(fields);
    expect(unheeded).toHaveLength(1);
    expect(unheeded[0]).toMatchObject({ protects: true, location: { line: lineOf(fields, key) } });
    expect(unheeded[0]?.message).toMatch(new RegExp(`^"${name}" is not applied: `));
    expect(unheeded[0]?.hint).not.toBe("");
  });

  it.each([
    ["GRAPH_SERVE_AUTH", "./auth.ts:authenticate"],
    ["GRAPH_SERVE_API_KEYS", "a-key-of-my-own"],
  ])("%s replaces auth but not encryption", async (name, value) => {
    const env = { [name]: value };
    expect((await load({ auth: { path: "./auth.ts:auth" } }, env)).unheeded).toEqual([]);
    expect((await load({ encryption: {} }, env)).unheeded).toHaveLength(1);
  });

  it("auth without a path is ignored", async () => {
    expect((await load({ auth: { disable_studio_auth: true } })).unheeded).toEqual([]);
  });
});

describe("other unsupported fields", () => {
  it.each([
    { ui: { agent: "./ui.tsx" } },
    { ui_config: { shared: [] } },
    { store: { index: { dims: 3 } } },
    { checkpointer: { ttl: { default_ttl: 60 } } },
    { webhooks: {} },
    { http: { mount_prefix: "/api" } },
    { http: { configurable_headers: { includes: ["x-a"] } } },
    { http: { logging_headers: {} } },
    { http: { app: "./a.ts", middleware_order: "middleware_first" } },
    { http: { app: "./a.ts", enable_custom_route_auth: false } },
  ])("the field is reported as a warning: %j", async (fields) => {
    const { unheeded, warnings } = await load(fields);
    expect(warnings).toEqual([]);
    expect(unheeded).toMatchObject([{ protects: false }]);
    expect(unheeded[0]?.message).toMatch(/^"[\w.]+" is not applied: /);
  });

  it.each([
    { http: { middleware_order: "middleware_first", enable_custom_route_auth: false } },
    { http: { app: "./a.ts", middleware_order: "auth_first", enable_custom_route_auth: true } },
    { http: { disable_mcp: true, disable_a2a: true, disable_ui: true, disable_webhooks: true } },
    { node_version: "22", dockerfile_lines: [], dependencies: ["."], pip_installer: "uv" },
  ])("fields without an effect are ignored: %j", async (fields) => {
    expect(await load(fields)).toMatchObject({ unheeded: [], warnings: [] });
  });
});
