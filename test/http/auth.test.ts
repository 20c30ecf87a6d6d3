import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ConfigError, GraphLoadError } from "../../src/support/errors.js";
import type { Authenticate, Identity } from "../../src/models/caller.js";
import { openService } from "../../src/service/open.js";
import { createApp } from "../../src/http/app.js";
import { serve, startTestServer } from "../helpers/app.js";
import { recordingLogger } from "../helpers/service.js";
import { graph as chat } from "../fixtures/graphs/chat.js";

const graphs = { chat };
const answering =
  (answer: unknown): Authenticate =>
  () =>
    answer as Identity;

describe("the auth function", () => {
  it("the auth function receives method, path and headers", async () => {
    const authenticate = vi.fn<Authenticate>(() => ({ identity: "ann" }));
    const { request } = await startTestServer({ graphs, authenticate });
    await request("POST", "/threads/search?x=1", {}, { authorization: "Bearer t0ken" });
    expect(authenticate).toHaveBeenCalledExactlyOnceWith({
      method: "POST",
      path: "/threads/search",
      headers: expect.objectContaining({ authorization: "Bearer t0ken" }) as unknown,
    });
  });

  it.each([
    ["null", answering(null)],
    ["undefined", answering(undefined)],
    ["a promise of null", () => Promise.resolve(null)],
    [
      "an exception",
      () => {
        throw new Error("bad signature");
      },
    ],
    ["a rejected promise", () => Promise.reject(new Error("bad signature"))],
  ] as [string, Authenticate][])("a request is rejected with 401 by %s", async (_what, authenticate) => {
    const { request } = await startTestServer({ graphs, authenticate });
    const answer = await request("POST", "/threads", {});
    expect(answer).toMatchObject({ status: 401, body: { code: "unauthorized" } });
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(answer.text).not.toContain("signature");
  });

  it.each([
    ["true", true],
    ["a string", "ann"],
    ["a missing identity", { metadata: { owner: "ann" } }],
    ["an empty identity", { identity: "" }],
    ["an empty scope", { identity: "ann", metadata: {} }],
    ["a nested scope", { identity: "ann", metadata: { owner: { id: 1 } } }],
    ["a scope of NaN", { identity: "ann", metadata: { level: Number.NaN } }],
    ["an undefined scope", { identity: "ann", metadata: { owner: undefined } }],
    ["a reserved scope", { identity: "ann", metadata: { graph_id: "chat" } }],
  ])("an auth result with %s is rejected with 500", async (_what, answer) => {
    const logger = recordingLogger();
    const { request } = await startTestServer({ graphs, authenticate: answering(answer), logger });
    expect((await request("POST", "/threads/search", {})).status).toBe(500);
    expect(
      JSON.stringify(logger.lines.map(({ fields }) => String((fields as { err?: Error }).err))),
    ).toContain("the auth function's answer is not valid");
  });

  it("open routes do not call the auth function", async () => {
    const authenticate = vi.fn<Authenticate>(() => null);
    const { request } = await startTestServer({ graphs, authenticate });
    for (const path of ["/ok", "/info", "/api/health"]) expect((await request("GET", path)).status).toBe(200);
    expect(authenticate).not.toHaveBeenCalled();
    for (const path of ["/docs/", "/openapi.json", "/api/initial-message", "/nothing"])
      expect((await request("GET", path)).status).toBe(401);
  });

  it("a request needs both a user and a key when API keys are set", async () => {
    const authenticate: Authenticate = ({ headers }) =>
      headers.authorization === "Bearer ann" ? { identity: "ann" } : null;
    const settings = { api_keys: ["key-of-the-chat-page"] };
    const { request } = await startTestServer({ graphs, authenticate, settings });
    const key = { "x-api-key": "key-of-the-chat-page" };
    const user = { authorization: "Bearer ann" };
    const status = async (headers: Record<string, string>) =>
      (await request("POST", "/threads", {}, headers)).status;
    expect(await Promise.all([status({}), status(key), status(user), status({ ...key, ...user })])).toEqual([
      401, 401, 401, 200,
    ]);
  });

  it("the log contains the user's name", async () => {
    const logger = recordingLogger();
    const authenticate = answering({ identity: "ann", token: "s3cret" });
    const { request, ...server } = await startTestServer({ graphs, authenticate, logger });
    await request("POST", "/threads", {});
    await server.close(0);
    expect(logger.lines.find(({ message }) => message === "request")?.fields).toMatchObject({ user: "ann" });
    expect(JSON.stringify(logger.lines)).not.toContain("s3cret");
  });
});

async function folder(files: Record<string, string>): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "graph-serve-auth-")));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
  return dir;
}

const hook = (identity: string) =>
  `import { name } from "./name.js";\nexport const authenticate = (request: { path: string }) => ({ identity: name + ${JSON.stringify(identity)} });\n`;
const files = { "auth.ts": hook("1"), "name.ts": 'export const name: string = "ann";\n' };

describe("the setting auth", () => {
  const open = async (cwd: string, auth: string) => {
    const service = await openService({ graphs, cwd, settings: { auth } });
    onTestFinished(() => service.close(0));
    return service;
  };
  const request = { method: "GET", path: "/", headers: {} };

  it.each(["./auth.ts:authenticate", "./auth.ts"])("%s loads a TypeScript function", async (auth) => {
    const service = await open(await folder(files), auth);
    expect(await service.authenticate?.(request)).toEqual({
      user: { identity: "ann1" },
      scope: { owner: "ann1" },
    });
  });

  it("the auth function is reloaded together with the graphs", async () => {
    const dir = await folder(files);
    const service = await open(dir, "./auth.ts");
    expect(service.watchedFiles()).toEqual([join(dir, "auth.ts"), join(dir, "name.ts")]);
    await writeFile(join(dir, "name.ts"), 'export const name: string = "berta";\n');
    await service.reload();
    expect((await service.authenticate?.(request))?.user.identity).toBe("berta1");
    await writeFile(join(dir, "auth.ts"), "export const authenticate = (;\n");
    await expect(service.reload()).rejects.toThrow(GraphLoadError);
    expect((await service.authenticate?.(request))?.user.identity).toBe("berta1");
  });

  it.each([
    ["./none.ts", "file ./none.ts not found"],
    ["./auth.ts:check", 'no function "check"'],
    ["./name.ts:name", 'no function "name"'],
  ])("%s is rejected as a configuration error", async (auth, message) => {
    const opening = open(await folder(files), auth);
    await expect(opening).rejects.toThrow(ConfigError);
    await expect(opening).rejects.toThrow(message);
  });

  it("the auth function is not loaded for offline access", async () => {
    const service = await openService({ graphs, settings: { auth: "./none.ts" }, mode: "edit" });
    onTestFinished(() => service.close(0));
    expect(service.authenticate).toBeUndefined();
  });

  it("a service without its auth function cannot be served", async () => {
    const auth = { graphs, settings: { auth: "./none.ts" }, mode: "read" } as const;
    const service = await openService(auth);
    onTestFinished(() => service.close(0));
    const hint = 'open it with openService({ mode: "serve" })';
    expect(() => createApp(service, { readOnly: true })).toThrow(
      expect.objectContaining({ message: "this service was opened without its auth function", hint }),
    );
    const authenticate = answering({ identity: "ann" });
    await expect(openService({ graphs, authenticate, mode: "read" })).rejects.toMatchObject({
      code: "config_invalid",
      hint,
    });
    const serving = await openService({ graphs, authenticate });
    const { request } = await serve(serving, { readOnly: true });
    expect((await request("POST", "/threads/search", {})).status).toBe(200);
  });
});
