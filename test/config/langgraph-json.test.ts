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

  it("http.mount_prefix and http.configurable_headers set where and with which headers the server serves", async () => {
    const http = { mount_prefix: "/api/", configurable_headers: { include: ["x-org"], excludes: ["x-b"] } };
    const { settings, origins, unheeded, warnings } = await load({ http });
    expect(settings.mount_prefix).toBe("/api");
    expect(settings.configurable_headers).toEqual({ includes: ["x-org"], excludes: ["x-b"] });
    expect(origins.mount_prefix).toEqual({ kind: "file", detail: `${join(dir, "langgraph.json")}:6` });
    expect([...unheeded, ...warnings]).toEqual([]);
    expect((await load({ http: { mount_prefix: "/" } })).settings.mount_prefix).toBeUndefined();
  });

  it("http.disable_* fields disable groups of routes", async () => {
    const http = { disable_threads: true, disable_store: true, disable_meta: true, disable_runs: false };
    expect((await load({ http })).settings.disabled_routes).toEqual(["threads", "store", "meta"]);
    expect((await load({ http: { disable_runs: false } })).settings.disabled_routes).toEqual([]);
  });

  it("checkpointer.ttl and store.ttl set what expires by default", async () => {
    const checkpointer = { ttl: { default_ttl: 60, strategy: "keep_latest", sweep_interval_minutes: 10 } };
    const store = { ttl: { default_ttl: 120, refresh_on_read: false, sweep_interval_minutes: 5 } };
    const { settings, unheeded, warnings } = await load({ checkpointer, store });
    expect(settings.ttl).toEqual({
      threads: { minutes: 60, strategy: "keep_latest" },
      store: { minutes: 120, refresh_on_read: false },
      sweep_interval_minutes: 5,
    });
    expect([...unheeded, ...warnings]).toEqual([]);
    const none = { checkpointer: { ttl: { strategy: "delete" } }, store: { ttl: {} } };
    expect((await load(none)).settings.ttl).toBeUndefined();
  });

  it("store.index sets what is embedded for searches by query", async () => {
    const index = { dims: 1536, embed: "openai:text-embedding-3-small", fields: null };
    const { settings, unheeded, warnings } = await load({ store: { index, ttl: {} } });
    expect(settings.store_index).toEqual({ dims: 1536, embed: "openai:text-embedding-3-small" });
    expect([...unheeded, ...warnings]).toEqual([]);
    expect((await load({ store: { index: null } })).settings.store_index).toBeUndefined();
  });

  it.each([
    [{ index: { dims: 3 } }, "embed"],
    [{ index: { dims: "3", embed: "./embed.ts:embed" } }, "dims"],
    [{ index: { dims: 3, embed: "./embed.ts:embed", fields: "text" } }, "fields"],
    [{ index: "text" }, "store.index must be an object"],
  ])("an invalid index is rejected: %j", async (store, message) => {
    await expect(load({ store })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(message) as string,
      location: { file: join(dir, "langgraph.json"), line: expect.any(Number) as number },
    });
  });

  it.each([
    [{ checkpointer: { ttl: { default_ttl: "1h" } } }, "default_ttl"],
    [{ checkpointer: { ttl: { default_ttl: 1, strategy: "archive" } } }, "strategy"],
    [{ store: { ttl: { sweep_interval_minutes: "x" } } }, "sweep_interval_minutes"],
    [{ checkpointer: { ttl: 60 } }, "ttl"],
  ])("an invalid ttl is rejected: %j", async (fields, key) => {
    await expect(load(fields)).rejects.toMatchObject({
      code: "config_invalid",
      location: { line: lineOf(fields, key) },
    });
  });

  it.each([
    [{ http: { disable_store: "true" } }, "disable_store", "http.disable_store must be true or false"],
    [{ http: { app: 5 } }, "app", "http_app must be a string, it is 5"],
    [{ http: { mount_prefix: 5 } }, "mount_prefix", "mount_prefix must be a string, it is 5"],
    [
      { http: { configurable_headers: { includes: "x-*" } } },
      "includes",
      'configurable_headers.includes must be an array, it is "x-*"',
    ],
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
    expect((await load({ auth: "./auth.ts:auth" }, env)).unheeded).toEqual([]);
    expect((await load({ encryption: {} }, env)).unheeded).toHaveLength(1);
  });

  it("auth without a path is ignored", async () => {
    expect((await load({ auth: { disable_studio_auth: true } })).unheeded).toEqual([]);
  });

  it("auth.path sets the Auth object, by default the default export", async () => {
    const { settings, origins, unheeded } = await load({ auth: { path: "./src/auth.ts:auth" } });
    expect(settings.auth).toBe("./src/auth.ts:auth");
    expect(origins.auth).toMatchObject({ kind: "file", detail: `${join(dir, "langgraph.json")}:6` });
    expect(unheeded).toEqual([]);
    expect((await load({ auth: { path: "./auth.ts" } })).settings.auth).toBe("./auth.ts:default");
    const env = { GRAPH_SERVE_AUTH: "./own.ts:authenticate" };
    expect((await load({ auth: { path: "./auth.ts:auth" } }, env)).settings.auth).toBe(
      "./own.ts:authenticate",
    );
  });

  it("an unknown field of auth is reported", async () => {
    const { warnings } = await load({ auth: { path: "./auth.ts:auth", studio_auth: false } });
    expect(warnings).toEqual([expect.stringContaining('key "auth.studio_auth" is unknown and ignored')]);
  });
});

describe("other unsupported fields", () => {
  it.each([
    { auth: { path: "./auth.ts:auth", disable_studio_auth: false } },
    { auth: { path: "./auth.ts:auth", openapi: {} } },
    { auth: { path: "./auth.ts:auth", cache: {} } },
    { ui: { agent: "./ui.tsx" } },
    { ui_config: { shared: [] } },
    { store: { type: "custom" } },
    { checkpointer: { type: "custom" } },
    { checkpointer: { ttl: { default_ttl: 60, sweep_limit: 5 } } },
    { webhooks: {} },
    { http: { lifespan: "./app.py:lifespan" } },
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
