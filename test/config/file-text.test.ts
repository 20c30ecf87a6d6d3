/** Files as Windows tools write them, and env files that cannot be read. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";

const MARK = "\uFEFF";

let dir: string;
beforeEach(async () => {
  dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-text-")));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = (name: string, content: string) => writeFile(join(dir, name), content);

describe("a byte order mark and Windows line ends", () => {
  it.each([
    ["graph-server.config.json", '{\r\n  "assistant_name": "${NAME}"\r\n}\r\n'],
    ["graph-server.config.yaml", "assistant_name: ${NAME}\r\n"],
    ["graph-server.config.mjs", 'export default {\r\n  assistant_name: "${NAME}",\r\n};\r\n'],
    ["package.json", '{\r\n  "graph-server": { "assistant_name": "${NAME}" }\r\n}\r\n'],
  ])("%s and its env file are read", async (name, content) => {
    await put(name, MARK + content);
    await put(".env", `${MARK}NAME=Ada\r\nOTHER="x"\r\n`);
    const { settings, env } = await loadConfig({ cwd: dir, env: {} });
    expect([settings.assistant_name, env]).toEqual(["Ada", { NAME: "Ada", OTHER: "x" }]);
  });

  it("a langgraph.json is read", async () => {
    await put("langgraph.json", `${MARK}{ "graphs": { "agent": "./graph.ts:graph" } }`);
    expect((await loadConfig({ cwd: dir, env: {} })).settings.graphs).toEqual({ agent: "./graph.ts:graph" });
  });

  it("a --config file is read, and an error in it has its place", async () => {
    await put("own.json", `${MARK}{\r\n  "port": "x"\r\n}\r\n`);
    await expect(loadConfig({ cwd: dir, env: {}, file: join(dir, "own.json") })).rejects.toMatchObject({
      message: 'port must be an integer, it is "x"',
      location: { line: 2, column: 3 },
    });
  });
});

describe("an env file that is a folder", () => {
  beforeEach(() => mkdir(join(dir, ".env")));

  it("is left alone if it is `.env` by default, as virtual environments of Python are", async () => {
    expect(await loadConfig({ cwd: dir, env: {} })).toMatchObject({ env: {} });
  });

  it("is a configuration error if it is named", async () => {
    await expect(loadConfig({ cwd: dir, env: {}, flags: { env: ".env" } })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(/^env file .*\.env cannot be read: EISDIR/) as string,
      hint: expect.stringContaining("--env") as string,
    });
  });
});
