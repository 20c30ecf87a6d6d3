import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig, type LoadedConfig, type LoadOptions } from "../../src/config/load.js";
import { SettingsSchema } from "../../src/config/settings.js";
import { SCHEMES } from "../../src/config/storage-settings.js";
import { ConfigError } from "../../src/support/errors.js";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-config-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(name: string, content: string | object): Promise<string> {
  const file = join(dir, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
  return file;
}

const load = (options: Partial<LoadOptions> = {}): Promise<LoadedConfig> =>
  loadConfig({ cwd: dir, env: {}, ...options });

async function failure(options: Partial<LoadOptions> = {}): Promise<ConfigError> {
  const error: unknown = await load(options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConfigError);
  return error as ConfigError;
}

describe("sources of settings", () => {
  it("defaults apply without any settings", async () => {
    const file = await put("graph-server.config.json", {});
    const { settings, origins, baseDir } = await load();
    expect(settings).toMatchObject({
      checkpointer_scheme: "memory",
      port: 2024,
      graphs: {},
      cors_origins: ["loopback"],
    });
    expect(origins.port).toEqual({ kind: "default" });
    expect(baseDir).toBe(dirname(file));
  });

  it.each([
    ["graph-server.config.json", '{ "port": 3001 }'],
    ["graph-server.config.yaml", "port: 3001\n"],
    ["graph-server.config.yml", "port: 3001\n"],
    ["graph-server.config.ts", "const port: number = 3001;\nexport default { port };\n"],
    ["graph-server.config.mts", "export default { port: 3001 as number };\n"],
    ["graph-server.config.js", "module.exports = { port: 3001 };\n"],
    ["graph-server.config.mjs", "export default { port: 3001 };\n"],
    ["graph-server.config.cjs", "module.exports = { port: 3001 };\n"],
    [".graph-serverrc", "port: 3001\n"],
    ["package.json", '{ "name": "x", "graph-server": { "port": 3001 } }'],
  ])("%s is found from a subfolder", async (name, content) => {
    const file = await put(name, content);
    await mkdir(join(dir, "src", "deep"), { recursive: true });
    const loaded = await load({ cwd: join(dir, "src", "deep") });
    expect(loaded.settings.port).toBe(3001);
    expect(loaded).toMatchObject({ file, baseDir: dir });
  });

  it("a TypeScript configuration can import defineConfig", async () => {
    await put(
      "graph-server.config.ts",
      'import { defineConfig } from "graph-serve";\nexport default defineConfig({ port: 3002 });\n',
    );
    expect((await load()).settings.port).toBe(3002);
  });

  it("an edited configuration module is read again", async () => {
    await put("graph-server.config.mjs", "export default { port: 3001 };");
    expect((await load()).settings.port).toBe(3001);
    await put("graph-server.config.mjs", "export default { port: 3002 };");
    expect((await load()).settings.port).toBe(3002);
  });

  it("flags override the environment, which overrides the file", async () => {
    await put("graph-server.config.json", { port: 1, host: "a.example", log_level: "warn" });
    const { settings, origins } = await load({
      env: { GRAPH_SERVE_PORT: "2", GRAPH_SERVE_HOST: "b.example" },
      flags: { port: 3 },
    });
    expect(settings).toMatchObject({ port: 3, host: "b.example", log_level: "warn" });
    expect(origins).toMatchObject({
      port: { kind: "flag", detail: "--port" },
      host: { kind: "env", detail: "GRAPH_SERVE_HOST" },
      log_level: { kind: "file", detail: `${join(dir, "graph-server.config.json")}:4` },
      body_limit: { kind: "default" },
    });
  });

  it("variables are parsed by the type of their setting", async () => {
    await put("graph-server.config.json", {});
    const { settings } = await load({
      env: {
        GRAPH_SERVE_RUN_TIMEOUT_SECONDS: "1.5",
        GRAPH_SERVE_ALLOW_UNFILTERED_EVENTS: "yes",
        GRAPH_SERVE_CORS_ORIGINS: "https://a.example, https://b.example",
        GRAPH_SERVE_CHECKPOINTER_OPTIONS: '{"pool_max_size":3}',
        GRAPH_SERVE_GRAPHS: '{"bot":"./bot.ts:graph"}',
        GRAPH_SERVE_WELCOME_MESSAGE: "123",
      },
    });
    expect(settings).toMatchObject({
      run_timeout_seconds: 1.5,
      allow_unfiltered_events: true,
      cors_origins: ["https://a.example", "https://b.example"],
      checkpointer_options: { pool_max_size: 3 },
      graphs: { bot: "./bot.ts:graph" },
      welcome_message: "123",
    });
  });

  it.each([true, false])("allow_unfiltered_messages: %s is ignored and causes a warning", async (value) => {
    await put("graph-server.config.json", { allow_unfiltered_messages: value });
    const { settings, warnings } = await load();
    expect(settings.hold_messages).toBe(false);
    expect(warnings).toEqual([
      expect.stringMatching(/^allow_unfiltered_messages is deprecated.*hold_messages/),
    ]);
  });

  it("hold_messages takes precedence over allow_unfiltered_messages", async () => {
    await put("graph-server.config.json", { allow_unfiltered_messages: true, hold_messages: true });
    const { settings, warnings } = await load();
    expect(settings.hold_messages).toBe(true);
    expect(warnings).toEqual([expect.stringContaining("hold_messages decides")]);
  });

  it.each([
    [{}, true, "default of compat langgraph"],
    [{ hold_messages: true }, false, undefined],
    [{ hold_messages: true, allow_unfiltered_events: true }, true, expect.stringContaining("config.json")],
  ])("compat langgraph with %j sets allow_unfiltered_events to %s", async (more, isAllowed, detail) => {
    await put("graph-server.config.json", { compat: "langgraph", ...more });
    const { settings, origins } = await load();
    expect(settings.allow_unfiltered_events).toBe(isAllowed);
    expect(origins.allow_unfiltered_events.detail).toEqual(detail);
  });

  it("a relative database path is resolved from the folder of the command", async () => {
    await put("graph-server.config.json", {});
    await mkdir(join(dir, "src"));
    const flags = { checkpointer_scheme: "sqlite", checkpointer_uri: "./t.db" };
    expect((await load({ cwd: join(dir, "src"), flags })).settings.checkpointer_uri).toBe(
      join(dir, "src", "t.db"),
    );
    expect((await load({ flags })).settings.checkpointer_uri).toBe("./t.db");
  });

  it("the result is deeply frozen", async () => {
    await put("graph-server.config.json", { checkpointer_options: { tls: { ca: "x" } } });
    const { settings } = await load();
    expect(() => settings.cors_origins.push("x")).toThrow(TypeError);
    expect(Object.isFrozen((settings.checkpointer_options as { tls?: object }).tls)).toBe(true);
  });

  it("the example configuration contains every setting", async () => {
    const { settings, origins } = await load({
      file: join(process.cwd(), "graph-server.config.example.json"),
    });
    expect(settings.port).toBe(2024);
    expect(settings.graphs.researcher).toBe("./src/researcher.ts:graph");
    const unset = Object.entries<object>(SettingsSchema.properties)
      .filter(
        ([name, schema]) =>
          origins[name as keyof typeof origins].kind !== "file" && !("deprecated" in schema),
      )
      .map(([name]) => name);
    expect(unset).toEqual([]);
  });
});

describe("environment variables", () => {
  it("references are expanded from the environment and the env file", async () => {
    await put(".env", "REGION=north\nHOST_NAME=from-file.example\n");
    await put("graph-server.config.yaml", [
      "env: .env",
      "host: ${HOST_NAME}",
      "port: ${PORT:-3003}",
      "assistant_name: ${REGION} $${literal}",
      "",
    ].join("\n")); // prettier-ignore
    const { settings, env, files } = await load({ env: { HOST_NAME: "from-process.example" } });
    expect(settings).toMatchObject({
      host: "from-process.example",
      port: 3003,
      assistant_name: "north ${literal}",
    });
    expect(env).toEqual({ REGION: "north", HOST_NAME: "from-file.example" });
    expect(files).toEqual([join(dir, "graph-server.config.yaml"), join(dir, ".env")]);
  });

  it("the env file can contain settings", async () => {
    await put(".env.local", "GRAPH_SERVE_PORT=3004\n");
    await put("graph-server.config.json", {});
    expect((await load({ flags: { env: ".env.local" } })).settings.port).toBe(3004);
  });

  it("`.env` next to the configuration is read by default, and set variables take precedence", async () => {
    await put(".env", "REGION=north\nGRAPH_SERVE_PORT=3004\n");
    await put("graph-server.config.json", { assistant_name: "${REGION}" });
    const { settings, env, envFile, files } = await load({ env: { REGION: "south" } });
    expect(settings).toMatchObject({ port: 3004, assistant_name: "south" });
    expect(env).toEqual({ REGION: "north", GRAPH_SERVE_PORT: "3004" });
    expect(envFile).toBe(join(dir, ".env"));
    expect(files).toContain(envFile);
    await put("graph-server.config.json", { env: {} });
    expect((await load()).envFile).toBeUndefined();
  });

  it("an env map defines variables inline", async () => {
    await put("graph-server.config.json", { env: { MODEL: "fake" }, assistant_name: "${MODEL}" });
    const { settings, env } = await load();
    expect(settings.assistant_name).toBe("fake");
    expect(env).toEqual({ MODEL: "fake" });
  });

  it("a missing variable is reported with file and line", async () => {
    const file = await put(
      "graph-server.config.yaml",
      "port: 1\nassistant_name: ${NOBODY_SET_THIS}\nhost: x\n",
    );
    const error = await failure();
    expect(error.message).toContain("NOBODY_SET_THIS is not set");
    expect(error.hint).toContain("${NOBODY_SET_THIS:-default}");
    expect(error.location).toMatchObject({ file, line: 2 });
    expect(error.location?.frame).toBe(
      ["  1 | port: 1", "> 2 | assistant_name: ${NOBODY_SET_THIS}", "    | ^", "  3 | host: x"].join("\n"),
    );
  });

  it("a missing env file in --env is an error", async () => {
    await put("graph-server.config.json", {});
    expect((await failure({ flags: { env: "nowhere.env" } })).message).toContain(
      "--env: env file nowhere.env",
    );
  });

  it("a missing env file in the configuration is a warning", async () => {
    await put("graph-server.config.json", { env: ".env" });
    expect((await load()).warnings).toEqual([
      "env file .env does not exist; create it, with lines such as NAME=value, or remove env from the configuration",
    ]);
    await put(".env.example", "NAME=value\n");
    expect((await load()).warnings).toEqual([
      "env file .env does not exist; copy .env.example to it, or remove env from the configuration",
    ]);
  });

  it("an unsupported variable of LangGraph's server is a warning", async () => {
    await put("graph-server.config.json", {});
    const { warnings } = await load({ env: { LANGGRAPH_CONFIG: '{"agent":{"configurable":{"a":1}}}' } });
    expect(warnings).toEqual([expect.stringMatching(/^LANGGRAPH_CONFIG is not read: send `config`/)]);
  });

  it.each([{}, true, { secret: "" }, { secret: 1 }])(
    "the invalid setting webhooks: %j is rejected with all conditions of webhooks",
    async (webhooks) => {
      await put("graph-server.config.json", {});
      const fromEnv = await failure({ env: { GRAPH_SERVE_WEBHOOKS: JSON.stringify(webhooks) } });
      await put("graph-server.config.json", { webhooks });
      for (const { message, hint } of [fromEnv, await failure()]) {
        expect(message).toContain("webhooks");
        expect(hint).toContain('{"secret":"whsec_…","allow_private":["127.0.0.1"]}');
        expect(hint).toContain('echo "whsec_$(openssl rand -base64 32)"');
      }
    },
  );

  it.each([
    ["sqlite without a queue", { checkpointer_scheme: "sqlite" }, true],
    ["queue none", { checkpointer_scheme: "postgres", queue: "none" }, true],
    ["queue postgres", { checkpointer_scheme: "postgres", queue: "postgres" }, false],
  ])("max_concurrent_runs causes a warning if there is no queue: %s", async (_, settings, isIgnored) => {
    const warning =
      "max_concurrent_runs has no effect without a queue: remove it and limit runs with max_active_runs, or set queue to postgres";
    await put("graph-server.config.json", settings);
    expect((await load()).warnings).toEqual([]);
    const expected = isIgnored ? [warning] : [];
    expect((await load({ flags: { max_concurrent_runs: 4 } })).warnings).toEqual(expected);
    expect((await load({ env: { GRAPH_SERVE_MAX_CONCURRENT_RUNS: "4" } })).warnings).toEqual(expected);
  });

  it("a misspelled variable is a warning", async () => {
    await put("graph-server.config.json", {});
    const { warnings } = await load({ env: { GRAPH_SERVE_PROT: "1", GRAPH_SERVE_TEST_POSTGRES_URI: "x" } });
    expect(warnings).toEqual(["GRAPH_SERVE_PROT is not a setting; did you mean GRAPH_SERVE_PORT?"]);
  });
});

describe("API keys", () => {
  it.each([
    ["key-number-1, key-number-2", ["key-number-1", "key-number-2"]],
    [
      '["key-number-1",{"name":"chat","key":"key-number-2"}]',
      ["key-number-1", { name: "chat", key: "key-number-2" }],
    ],
  ])("API keys are read from the environment: %s", async (text, keys) => {
    await put("graph-server.config.json", {});
    expect((await load({ env: { GRAPH_SERVE_API_KEYS: text } })).settings.api_keys).toEqual(keys);
  });

  it.each([",", "short", "with a space", '[{"name":"chat"}]', "[]"])(
    "invalid API keys are rejected: %s",
    async (text) => {
      await put("graph-server.config.json", {});
      const error = await failure({ env: { GRAPH_SERVE_API_KEYS: text } });
      expect(error.message).toMatch(/^GRAPH_SERVE_API_KEYS: api_keys/);
    },
  );

  it("a rejected key is not printed", async () => {
    await put("graph-server.config.json", { api_keys: ["se cret"] });
    const error = await failure();
    expect(error.message).toContain("at least 8 printable characters");
    expect(JSON.stringify(error.issues) + error.message).not.toContain("cret");
  });
});

describe("invalid configurations", () => {
  it("an unknown key suggests the nearest setting", async () => {
    const file = await put("graph-server.config.json", '{\n  "graphs": {},\n  "prot": 3000\n}\n');
    const error = await failure();
    expect(error.message).toBe('unknown setting "prot"');
    expect(error.hint).toBe('did you mean "port"?');
    expect(error.location).toMatchObject({ file, line: 3, column: 3 });
    expect(error.location?.frame).toContain('> 3 |   "prot": 3000');
  });

  it("without a similar setting, it names the command that prints all", async () => {
    await put("graph-server.config.json", '{ "zzzzzz": 1 }');
    expect(await failure()).toMatchObject({
      message: 'unknown setting "zzzzzz"',
      hint: "graph-serve config schema prints all settings",
    });
  });

  it.each([
    ['{ "port": "abc" }', 'port must be an integer, it is "abc"'],
    ['{ "port": 70000 }', "port must be <= 65535, it is 70000"],
    ['{ "log_level": "loud" }', 'log_level must be one of debug, info, warn, error, silent, it is "loud"'],
    ['{ "graphs": { "a": 5 } }', 'graphs.a must be "path:export" or {"path": "path:export"}, it is 5'],
    ['{ "env": 5 }', "env must be the path of an env file, or an object of strings, it is 5"],
    ["[1]", "a configuration must be an object of settings"],
  ])("%s is rejected with a clear message", async (content, message) => {
    await put("graph-server.config.json", content);
    const error = await failure();
    expect(error.message).toBe(message);
    expect(error.location?.line).toBe(1);
  });

  it.each([
    ['{\n "a": 1,\n}', 3],
    ["{\n a: 1 }", 2],
    ['{\n "a": 1,\n "b": yes\n}', 3],
    ['{\n "a": 1\n', 3],
    ["{\n 'a': 1 }", 2],
  ])("malformed JSON is reported with its line: %j", async (content, line) => {
    await put("graph-server.config.json", content);
    const error = await failure();
    expect(error.message).toContain("invalid JSON");
    expect(error.location?.line).toBe(line);
  });

  it("malformed YAML is reported with its line", async () => {
    await put("graph-server.config.yaml", "port: 1\nhost: [a\n");
    const error = await failure();
    expect(error.message).toContain("invalid YAML");
    expect(error.location?.line).toBeGreaterThan(1);
  });

  it("errors in variables and flags name their source", async () => {
    await put("graph-server.config.json", {});
    expect((await failure({ env: { GRAPH_SERVE_PORT: "abc" } })).message).toBe(
      'GRAPH_SERVE_PORT: port must be an integer, it is "abc"',
    );
    expect((await failure({ flags: { port: -1 } })).message).toBe("--port: port must be >= 0, it is -1");
  });

  it("an unknown scheme lists the supported schemes", async () => {
    await put("graph-server.config.json", { checkpointer_scheme: "sqlit" });
    const error = await failure();
    expect(error.message).toContain(`supported: ${SCHEMES.join(", ")}`);
    expect(error.hint).toBe('did you mean "sqlite"?');
    expect(error.location?.line).toBe(2);
  });

  it("default_assistant_id must be a key of graphs", async () => {
    await put("graph-server.config.json", { graphs: { a: "./a.ts" }, default_assistant_id: "b" });
    const error = await failure();
    expect(error.message).toContain('"b" is not a key of graphs');
    expect(error.hint).toBe("use one of: a");
  });

  it("a configuration module that throws is reported with its path", async () => {
    const file = await put("graph-server.config.mjs", 'throw new Error("boom");');
    const error = await failure();
    expect(error.message).toContain("threw: boom");
    expect(error.location?.file).toBe(file);
  });

  it("a missing configuration file is rejected", async () => {
    const { message, hint } = await failure({ file: "nowhere.json" });
    expect([message, hint]).toEqual([
      expect.stringContaining("cannot be read"),
      expect.stringContaining("graph-serve init --config-only"),
    ]);
  });

  it.each([
    [{ checkpointer_uri: "postgres://u:p@db/x" }, "scheme memory; set the scheme postgres"],
    [{ checkpointer_scheme: "sqlite", checkpointer_uri: "postgres://u:p@db/x" }, "scheme sqlite"],
    [{ checkpointer_uri: "./threads.db" }, "set checkpointer_scheme sqlite"],
  ])("a URI that does not match the scheme is a warning: %j", async (content, text) => {
    await put("graph-server.config.json", content);
    const { warnings } = await load();
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(text);
    expect(warnings[0]).not.toContain("u:p");
  });

  it("a URI that matches the scheme causes no warning", async () => {
    await put("graph-server.config.json", {
      checkpointer_scheme: "sqlite",
      checkpointer_uri: "file:threads.db",
    });
    expect((await load()).warnings).toEqual([]);
  });
});

describe("langgraph.json", () => {
  it("supported fields are read without warnings", async () => {
    await put(".env", "KEY=value\n");
    const file = await put("langgraph.json", {
      $schema: "https://example.com/schema.json",
      node_version: "20",
      dependencies: ["."],
      graphs: { agent: "./src/agent.ts:graph", other: { path: "./src/other.ts:graph", description: "x" } },
      env: ".env",
      http: { cors: { allow_origins: ["https://a.example"] }, disable_mcp: true },
      store: { index: { dims: 3, embed: "./embed.ts:embed" } },
    });
    const loaded = await load();
    expect(loaded.settings).toMatchObject({
      graphs: { agent: "./src/agent.ts:graph", other: "./src/other.ts:graph" },
      cors_origins: ["https://a.example"],
    });
    expect(loaded).toMatchObject({ file, env: { KEY: "value" }, warnings: [] });
  });

  it("unknown keys are warnings", async () => {
    const file = await put("langgraph.json", '{\n "graphs": {},\n "http": { "odd": 1 },\n "strange": 1\n}');
    expect((await load()).warnings).toEqual([
      `${file}:4: key "strange" is unknown and ignored`,
      `${file}:3: key "http.odd" is unknown and ignored`,
    ]);
  });

  it("an invalid value is reported with its line", async () => {
    await put("langgraph.json", '{\n "graphs": {},\n "http": { "cors": {\n  "allow_origins": 5 } }\n}');
    expect((await failure()).location?.line).toBe(4);
  });

  it("graph-server.config.json takes precedence over langgraph.json", async () => {
    await put("langgraph.json", { graphs: { theirs: "./a.ts" } });
    await put("graph-server.config.json", { graphs: { ours: "./a.ts" } });
    expect(Object.keys((await load()).settings.graphs)).toEqual(["ours"]);
  });
});

describe("compat", () => {
  const LANGGRAPH = {
    run_create_mode: "background",
    on_disconnect: "continue",
    multitask_strategy: "reject",
  };

  it("specification is the default", async () => {
    const { settings, origins } = await load();
    expect(settings).toMatchObject({ compat: "specification", run_create_mode: "wait" });
    expect(origins).toMatchObject({ compat: { kind: "default" }, run_create_mode: { kind: "default" } });
  });

  it("langgraph is the default for a langgraph.json", async () => {
    await put("langgraph.json", { graphs: { agent: "./a.ts" } });
    const { settings, origins } = await load();
    expect(settings).toMatchObject({ compat: "langgraph", list_all_assistants: true, ...LANGGRAPH });
    expect(origins.compat).toEqual({ kind: "default", detail: "default of a langgraph.json" });
    expect(origins.on_disconnect).toEqual({ kind: "default", detail: "default of compat langgraph" });
    expect(origins.port).toEqual({ kind: "default" });
  });

  it("compat can be set in the file, in the environment and with a flag", async () => {
    await put("graph-server.config.json", { graphs: {}, compat: "langgraph" });
    expect((await load()).settings).toMatchObject(LANGGRAPH);
    expect((await load({ env: { GRAPH_SERVE_COMPAT: "specification" } })).settings.on_disconnect).toBe(
      "cancel",
    );
    await rm(join(dir, "graph-server.config.json"));
    await put("langgraph.json", { graphs: {} });
    expect((await load({ flags: { compat: "specification" } })).settings.run_create_mode).toBe("wait");
    await put(".env", "GRAPH_SERVE_COMPAT=specification\n");
    expect((await load()).settings.list_all_assistants).toBe(false);
  });

  it("explicit settings override the defaults of compat", async () => {
    await put("langgraph.json", { graphs: {} });
    const { settings, origins } = await load({ env: { GRAPH_SERVE_RUN_CREATE_MODE: "wait" } });
    expect(settings).toMatchObject({ ...LANGGRAPH, run_create_mode: "wait" });
    expect(origins.run_create_mode.kind).toBe("env");
  });

  it("an unknown compat value is rejected", async () => {
    await put("graph-server.config.json", '{\n "graphs": {},\n "compat": "lang"\n}');
    expect(await failure()).toMatchObject({ location: { line: 3 } });
  });

  it("an invalid UUID in assistant_namespace is rejected", async () => {
    const named = (assistant_namespace: string) => load({ flags: { assistant_namespace } });
    expect((await named("urn:uuid:6ba7b811-9dad-11d1-80b4-00c04fd430c8")).warnings).toEqual([]);
    await expect(named("urn:uuid:nonsense")).rejects.toThrow("assistant_namespace is not a UUID");
  });
});

describe("graph targets", () => {
  it("a graph id sets the default assistant", async () => {
    await put("graph-server.config.json", { graphs: { a: "./a.ts", b: "./b.ts" } });
    const { settings, origins } = await load({ graphs: ["b"] });
    expect(settings).toMatchObject({ graphs: { a: "./a.ts", b: "./b.ts" }, default_assistant_id: "b" });
    expect(origins.default_assistant_id.kind).toBe("flag");
  });

  it("files get ids and keep their order", async () => {
    await put("graph-server.config.json", { graphs: { a: "./a.ts" }, default_assistant_id: "a" });
    const { settings } = await load({ graphs: ["./graph.ts:main", "lib/weather.mts", "lib/index.js"] });
    expect(Object.entries(settings.graphs)).toEqual([
      ["agent", "./graph.ts:main"],
      ["weather", "lib/weather.mts"],
      ["agent-2", "lib/index.js"],
    ]);
    expect(settings.default_assistant_id).toBe("agent");
  });

  it("file paths are relative to the caller's folder", async () => {
    await put("graph-server.config.json", {});
    await mkdir(join(dir, "src"));
    const { settings } = await load({ cwd: join(dir, "src"), graphs: ["./bot.ts:graph"] });
    expect(settings.graphs).toEqual({ bot: "./src/bot.ts:graph" });
  });

  it("an argument that is neither a graph nor a file is rejected", async () => {
    await put("graph-server.config.json", { graphs: { weather: "./a.ts" } });
    const error = await failure({ graphs: ["wether"] });
    expect(error.message).toContain('"wether" is neither a graph of the configuration nor a file');
    expect(error.hint).toBe('did you mean "weather"?');
  });
});
