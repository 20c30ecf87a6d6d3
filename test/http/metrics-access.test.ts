/** `/metrics` with its own key and on its own port: what is reachable where, and with which key. */
import { createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { startServer } from "../../src/http/server.js";
import { openService } from "../../src/service/open.js";
import type { SettingsInput } from "../../src/config/settings.js";
import { graph as chat } from "../fixtures/graphs/chat.js";
import { serve } from "../helpers/app.js";
import { cli, createProject, startCli } from "../cli/harness.js";

const API_KEY = "key-of-the-chat-page";
const METRICS_KEY = "key-of-prometheus";

const open = async (settings: SettingsInput) =>
  serve(await openService({ graphs: { chat }, settings: { metrics: true, ...settings } as never }));

/** Statuses of a GET without a key, with the API key and with the key of the metrics. */
const statuses = (url: string): Promise<number[]> =>
  Promise.all(
    [undefined, API_KEY, METRICS_KEY].map(async (key) => {
      const headers: Record<string, string> = key === undefined ? {} : { "x-api-key": key };
      const response = await fetch(url, { headers });
      await response.text();
      return response.status;
    }),
  );

describe("metrics_key", () => {
  it("only it opens /metrics, and it opens nothing else", async () => {
    const { url } = await open({ api_keys: [API_KEY], metrics_key: METRICS_KEY });
    expect(await statuses(`${url}/metrics`)).toEqual([401, 401, 200]);
    // Express serves this path too.
    expect(await statuses(`${url}/metrics/`)).toEqual([401, 401, 200]);
    expect(await statuses(`${url}/metrics/more`)).toEqual([401, 401, 404]);
    expect(await statuses(`${url}/openapi.json`)).toEqual([401, 200, 401]);
  });

  it("without api_keys, the other routes stay as they are", async () => {
    const { url } = await open({ metrics_key: METRICS_KEY });
    expect(await statuses(`${url}/metrics`)).toEqual([401, 401, 200]);
    expect(await statuses(`${url}/openapi.json`)).toEqual([200, 200, 200]);
  });

  it("without metrics_key, /metrics needs the keys of other routes", async () => {
    const { url } = await open({ api_keys: [API_KEY] });
    expect(await statuses(`${url}/metrics`)).toEqual([401, 200, 401]);
  });
});

describe("metrics_port", () => {
  it("serves the metrics with the same keys, and only them", async () => {
    const { url, metricsUrl = "" } = await open({ api_keys: [API_KEY], metrics_port: 0, studio: true });
    expect(new URL(metricsUrl).port).not.toBe(new URL(url).port);
    expect(await statuses(metricsUrl)).toEqual([401, 200, 401]);
    expect(await statuses(`${url}/metrics`)).toEqual([404, 404, 404]);
    for (const path of ["/ok", "/openapi.json", "/studio/", "/metrics/../ok", "//metrics"])
      expect(await statuses(new URL(metricsUrl).origin + path)).toEqual([404, 404, 404]);
    expect(await statuses(`${url}/ok`)).toEqual([200, 200, 200]);
  });

  it("takes metrics_key, and checks host names as the first server", async () => {
    const settings = { api_keys: [API_KEY], metrics_key: METRICS_KEY, metrics_port: 0 };
    const { metricsUrl = "" } = await open(settings);
    expect(await statuses(metricsUrl)).toEqual([401, 401, 200]);
    const text = await (await fetch(metricsUrl, { headers: { "x-api-key": METRICS_KEY } })).text();
    expect(text).toContain("graph_serve_runs_active");
  });

  it("a port in use is an error, and the first server does not listen", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const settings = { metrics: true, metrics_port: port } as never;
    const service = await openService({ graphs: { chat }, settings });
    await expect(startServer(service, { host: "127.0.0.1", port: 0 })).rejects.toThrow(
      `metrics_port ${port}: 127.0.0.1:${port} is in use by another process`,
    );
    await service.close();
    taken.close();
  });

  it("is served by start from variables, and closed with it", async () => {
    const project = await createProject({ "graph.ts": "export { graph } from './chat.js';" });
    await project.put(
      "chat.ts",
      `export { graph } from ${JSON.stringify(`${process.cwd()}/test/fixtures/graphs/chat.ts`)};`,
    );
    const env = {
      GRAPH_SERVE_METRICS: "true",
      GRAPH_SERVE_METRICS_PORT: "0",
      GRAPH_SERVE_METRICS_KEY: METRICS_KEY,
    };
    const server = startCli(["start", "./chat.ts", "-p", "0"], { cwd: project.dir, env });
    const [, url = ""] = await server.stderr.until(/"metrics":"(http.+?)".*"msg":"listening"/);
    expect(await statuses(url)).toEqual([401, 401, 200]);
    server.stop();
    expect(await server.exit).toBe(0);
    await expect(fetch(url)).rejects.toThrow();
    const { stdout } = await cli(["config", "print"], { cwd: project.dir, env });
    expect(stdout).not.toContain(METRICS_KEY);
    await project.remove();
  });
});

describe("contradictory settings", () => {
  it.each([
    [{ metrics: false, metrics_key: METRICS_KEY }, "metrics_key needs metrics"],
    [{ metrics: false, metrics_port: 9464 }, "metrics_port needs metrics"],
    [{ metrics_port: 2024 }, "metrics_port and port are both 2024"],
    [{ metrics_port: 2025, health_port: 2025 }, "metrics_port and health_port are both 2025"],
    [{ metrics_key: METRICS_KEY, open_routes: ["/metrics"] as never }, "open_routes contains /metrics"],
    [
      { metrics_key: METRICS_KEY, api_keys: [{ name: "a", key: METRICS_KEY }] },
      "metrics_key is also a key of api_keys",
    ],
  ] as [SettingsInput, string][])("%j is rejected", async (settings, message) => {
    await expect(open(settings)).rejects.toThrow(message);
  });

  it("a short key is rejected without printing it", async () => {
    const env = { GRAPH_SERVE_METRICS: "true", GRAPH_SERVE_METRICS_KEY: "short77" };
    const { code, stderr } = await cli(["start", "./graph.ts"], { env });
    expect(code).toBe(2);
    expect(stderr).toContain("metrics_key must be at least 8 printable characters without spaces");
    expect(stderr).not.toContain("short77");
  });
});
