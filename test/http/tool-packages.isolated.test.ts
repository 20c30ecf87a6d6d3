/** The settings mcp and a2a, and traces, when their packages are missing. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { openService } from "../../src/service/open.js";
import { cli, createProject, echoGraph } from "../cli/harness.js";
import { graph as chat } from "../fixtures/graphs/chat.js";

vi.mock("node:module", async (original) => {
  const module = await original<{ createRequire: typeof createRequire }>();
  const create = (from: string | URL) => {
    const require = module.createRequire(from);
    return Object.assign((id: string): unknown => {
      if (!/^@(modelcontextprotocol|a2a-js|opentelemetry)\/(sdk|api)/.test(id)) return require(id);
      throw Object.assign(new Error(`Cannot find module '${id}'`), { code: "MODULE_NOT_FOUND" });
    }, require);
  };
  return { ...module, default: module, createRequire: create };
});

it.each([
  ["mcp", "@modelcontextprotocol/sdk"],
  ["a2a", "@a2a-js/sdk"],
])(
  "a missing package of %s is reported with the install command of the project's package manager",
  async (setting, name) => {
    const cwd = await mkdtemp(join(tmpdir(), "graph-serve-packages-"));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    await writeFile(join(cwd, "pnpm-lock.yaml"), "");
    const opened = openService({ graphs: { chat }, settings: { [setting]: true }, cwd });
    await expect(opened).rejects.toMatchObject({
      code: "config_invalid",
      message: `${setting}: the package ${name} is not installed`,
      hint: `install it in your project: pnpm add ${name}`,
    });
  },
);

it("validate reports them, because a server does not start without them", async () => {
  const project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": {
      graphs: { agent: "./graph.ts:graph" },
      ...{ mcp: true, a2a: true, metrics: true },
    },
  });
  onTestFinished(() => project.remove());
  const { code, stdout } = await cli(["validate"], { cwd: project.dir });
  expect(code).toBe(2);
  expect(stdout).toMatch(/fail +mcp +mcp: the package @modelcontextprotocol\/sdk is not installed/);
  expect(stdout).toMatch(/fail +a2a +a2a: the package @a2a-js\/sdk is not installed/);
  expect(stdout).toMatch(/ok +metrics /);
});

it("doctor reports missing packages of traces once, and still checks the graphs", async () => {
  const project = await createProject({
    "graph.ts": echoGraph(),
    "graph-server.config.json": { graphs: { agent: "./graph.ts:graph" } },
  });
  onTestFinished(() => project.remove());
  vi.stubEnv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
  onTestFinished(() => void vi.unstubAllEnvs());
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };
  const { code, stdout } = await cli(["doctor", "--db", "memory"], { cwd: project.dir, env });
  expect(code).toBe(1);
  expect(stdout).toMatch(/ok +graph agent /);
  expect(stdout).toMatch(
    /fail +traces +OTEL_EXPORTER_OTLP_ENDPOINT: the package @opentelemetry\/api is not installed/,
  );
});

it("the packages are not loaded while the settings are off", async () => {
  const service = await openService({ graphs: { chat } });
  await service.close(0);
  expect([service.mcpSdk, service.a2aSdk]).toEqual([undefined, undefined]);
});
