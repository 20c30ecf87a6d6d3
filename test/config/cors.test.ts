/** CORS configuration: this server's settings, and `http.cors` of an existing LangGraph project. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig, type LoadedConfig } from "../../src/config/load.js";
import type { ConfigError } from "../../src/support/errors.js";
import { serve } from "../helpers/app.js";
import { fakeService } from "../helpers/fake-service.js";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "graph-serve-cors-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function loaded(name: string, content: object): Promise<LoadedConfig> {
  await writeFile(join(cwd, name), JSON.stringify(content, null, 1));
  return loadConfig({ cwd, env: {} });
}

const langgraph = (cors: object) => loaded("langgraph.json", { graphs: { a: "./a.ts" }, http: { cors } });
const own = (settings: object) => loaded("graph-server.config.json", settings);
const failure = (loading: Promise<LoadedConfig>): Promise<ConfigError> =>
  loading.then(
    () => expect.fail("expected loading to fail"),
    (error: ConfigError) => error,
  );

describe("http.cors of langgraph.json", () => {
  it("every field is applied", async () => {
    const { settings, warnings } = await langgraph({
      allow_origins: ["https://a.example"],
      allow_origin_regex: "https://.*\\.b\\.example",
      allow_methods: ["GET", "POST"],
      allow_headers: ["x-mine"],
      allow_credentials: true,
      expose_headers: ["x-seen"],
      max_age: 600,
    });
    expect(warnings).toEqual([]);
    const { request } = await serve(fakeService({ settings }));
    const preflight = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-other",
    };
    for (const origin of ["https://a.example", "https://x.b.example"]) {
      const { headers } = await request("OPTIONS", "/threads", undefined, { origin, ...preflight });
      expect(Object.fromEntries(headers)).toMatchObject({
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET,POST",
        "access-control-allow-headers": "x-mine",
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": expect.stringContaining("x-seen") as unknown,
        "access-control-max-age": "600",
      });
      expect((await request("POST", "/threads", {}, { origin })).status).toBe(200);
    }
    for (const origin of ["https://c.example", "http://localhost:3000"]) {
      const answer = await request("POST", "/threads", {}, { origin });
      expect(answer.status).toBe(403);
      expect(answer.headers.has("access-control-allow-origin")).toBe(false);
    }
  });

  it("a pattern without origins allows no other origin", async () => {
    const { settings } = await langgraph({ allow_origin_regex: "https://.*\\.b\\.example" });
    expect(settings.cors_origins).toEqual([]);
  });

  it("the default origins are kept if no origins are set", async () => {
    expect((await langgraph({ max_age: 5 })).settings.cors_origins).toEqual(["loopback"]);
    expect((await loaded("langgraph.json", { graphs: {} })).settings.cors_origins).toEqual(["loopback"]);
  });

  it("an unknown field causes a warning", async () => {
    const { warnings } = await langgraph({ allow_origin: ["https://a.example"] });
    expect(warnings).toEqual([
      expect.stringMatching(/langgraph\.json:7: key "http\.cors\.allow_origin" is unknown and ignored$/),
    ]);
  });

  it.each([
    [{ allow_origin_regex: "https://(" }, "cors_origin_regex is not a valid regular expression"],
    [{ max_age: "soon" }, "cors_max_age must be an integer"],
    [{ allow_credentials: "yes" }, "cors_credentials must be a boolean"],
    [{ expose_headers: "x-seen" }, "cors_expose_headers must be an array"],
  ])("%j is rejected with its line", async (cors, message) => {
    const error = await failure(langgraph(cors));
    expect(error.message).toContain(message);
    expect(error.location).toMatchObject({ file: join(cwd, "langgraph.json"), line: 7 });
  });
});

describe("CORS settings", () => {
  it.each(["https://a.example/", "https://a.example/chat", "a.example", "https://*.a.example", "localhost"])(
    "%s is not an origin and causes a warning",
    async (origin) => {
      const { warnings } = await own({ cors_origins: [origin] });
      expect(warnings).toEqual([expect.stringContaining(`cors_origins: "${origin}" is not an origin`)]);
    },
  );

  it("valid origins, patterns and keywords cause no warning", async () => {
    const cors_origins = [
      "https://a.example",
      "http://localhost:3000",
      "tauri://localhost",
      "loopback",
      "*",
      "null",
    ];
    expect((await own({ cors_origins, cors_origin_regex: "https://.*" })).warnings).toEqual([]);
  });

  it("credentials for any origin cause a warning", async () => {
    const { warnings } = await own({ cors_origins: ["*"], cors_credentials: true });
    expect(warnings).toEqual([expect.stringContaining("every web page")]);
  });
});
