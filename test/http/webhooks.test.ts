/** Webhooks over HTTP: rejected URLs, signatures, allowed hosts and visible values. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { post, OutboundPolicy } from "../../src/support/outbound.js";
import { graphs, says } from "../clients/open.js";
import { CLASSIFIED } from "../fixtures/graphs/vault.js";
import { startTestServer } from "../helpers/app.js";
import { ROOT } from "../helpers/markdown.js";
import { SECRET, startReceiver, webhooks } from "../helpers/webhook-receiver.js";

const newThread = async ({ request }: Awaited<ReturnType<typeof startTestServer>>) =>
  ((await request("POST", "/threads", {})).body as { thread_id: string }).thread_id;
const hello = { assistant_id: "chat", input: says("hello") };

describe("a webhook over HTTP", () => {
  it("the documented verification code accepts a signed request and rejects a modified one", async () => {
    const [, code = ""] =
      /```js\n([^]*?)```/.exec(await readFile(join(ROOT, "docs/webhooks.md"), "utf8")) ?? [];
    const folder = await mkdtemp(join(tmpdir(), "graph-serve-verify-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, "verify.mjs"), code);
    const { isGenuine } = (await import(pathToFileURL(join(folder, "verify.mjs")).href)) as {
      isGenuine: (headers: IncomingHttpHeaders, body: string, secret: string) => boolean;
    };
    const server = await startTestServer({ graphs, settings: { webhooks } });
    const receiver = await startReceiver();
    const path = `/threads/${await newThread(server)}/runs/wait`;
    expect((await server.request("POST", path, { ...hello, webhook: receiver.url })).status).toBe(200);
    const { headers, body } = await receiver.next();
    expect(headers).toMatchObject({ "content-type": "application/json" });
    expect(isGenuine(headers, body, SECRET)).toBe(true);
    expect(isGenuine(headers, `${body} `, SECRET)).toBe(false);
    expect(isGenuine({ ...headers, "webhook-timestamp": "1" }, body, SECRET)).toBe(false);
    expect(isGenuine(headers, body, `whsec_${btoa("another secret of thirty-two bytes")}`)).toBe(false);
  });

  it.each([
    ["example.com/hook", "is not a URL"],
    ["/hooks/agent", "is a path: use the full URL"],
    ["ftp://example.com", "starts with ftp:"],
    ["https://ann:pass@example.com", "contains credentials"],
    ["http://127.0.0.2/", "127.0.0.2, which is not a public address"],
    ["http://2130706434/", "127.0.0.2, which is not a public address"],
    ["http://[::ffff:10.0.0.1]/", "which is not a public address"],
    ["http://[::1]/", "::1, which is not a public address"],
    ["http://169.254.169.254/latest", "169.254.169.254, which is not a public address"],
    [`https://example.com/${"a".repeat(2048)}`, "is longer than 2048 characters"],
  ])("the invalid webhook URL %s is rejected", async (webhook, why) => {
    const server = await startTestServer({ graphs, settings: { webhooks } });
    const path = `/threads/${await newThread(server)}/runs`;
    const answer = await server.request("POST", path, { ...hello, webhook });
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(why)]);
    expect((await server.request("GET", path)).body).toEqual([]);
  });

  it("a webhook URL must match the setting hosts", async () => {
    const hosts = ["hooks.example.com", "*.internal.example"];
    const server = await startTestServer({ graphs, settings: { webhooks: { ...webhooks, hosts } } });
    const path = `/threads/${await newThread(server)}/runs`;
    const status = async (webhook: string) =>
      (await server.request("POST", path, { ...hello, webhook })).status;
    expect(await status("https://hooks.example.com.evil.example/")).toBe(422);
    expect(await status("https://internal.example/")).toBe(422);
    expect(await status("http://127.0.0.1/")).toBe(422);
  });

  it("a hostname that resolves to a private address is not contacted", async () => {
    const server = await startTestServer({ graphs, settings: { webhooks: { secret: SECRET } } });
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const path = `/threads/${await newThread(server)}/runs`;
    const webhook = `http://localhost:${port}/`;
    expect((await server.request("POST", path, { ...hello, webhook })).status).toBe(200);
    const error = async () =>
      ((await server.request("GET", "/webhooks")).body as { last_error: string | null }[])[0]?.last_error;
    await expect.poll(error).toContain("which is not a public address");
    expect(receiver.received).toEqual([]);
  });

  it("the connection uses the checked address even if the hostname resolves differently later", async () => {
    const asked: string[] = [];
    const reach = new OutboundPolicy({ allow_private: ["127.0.0.1"] });
    const receiver = await startReceiver();
    const { port } = new URL(receiver.url);
    const sent = post(`http://rebound.example:${port}/`, {
      headers: {},
      body: "{}",
      reach,
      signal: AbortSignal.timeout(5_000),
      resolve: (host, _, done) => {
        asked.push(host);
        done(null, [
          { address: asked.length === 1 ? "10.0.0.1" : "127.0.0.1", family: 4 },
          { address: "127.0.0.1", family: 4 },
        ]);
      },
    });
    expect(await sent).toBe(204);
    expect(asked).toEqual(["rebound.example"]);
  });

  it("a webhook contains only values that clients may see", async () => {
    const server = await startTestServer({ graphs, settings: { webhooks } });
    const receiver = await startReceiver();
    const path = `/threads/${await newThread(server)}/runs`;
    const asked = { assistant_id: "vault", input: { topic: "plants" }, webhook: receiver.url };
    const { run_id } = (await server.request("POST", path, asked)).body as { run_id: string };
    const { run, body } = await receiver.next();
    expect(run.values).toEqual((await server.request("GET", `${path}/${run_id}/join`)).body);
    expect(run.values).toMatchObject({ topic: "plants", __interrupt__: [{}] });
    expect(body).not.toContain(CLASSIFIED);
  });

  it("a deleted webhook is no longer sent", async () => {
    const server = await startTestServer({ graphs, settings: { webhooks } });
    const receiver = await startReceiver();
    receiver.answers.push(500);
    await server.request("POST", `/threads/${await newThread(server)}/runs`, {
      ...hello,
      webhook: receiver.url,
    });
    const list = async () =>
      (await server.request("GET", "/webhooks")).body as { run_id: string; sendings: number }[];
    await expect.poll(async () => (await list())[0]?.sendings).toBe(1);
    const [{ run_id } = { run_id: "" }] = await list();
    expect((await server.request("DELETE", `/webhooks/${run_id}`)).status).toBe(204);
    expect((await server.request("POST", `/webhooks/${run_id}/send`)).body).toMatchObject({
      code: "webhook_not_found",
    });
    expect(await list()).toEqual([]);
  });

  it.each([
    ["https://hooks.example.com/agent", '{"secret":"whsec_…"}'],
    ["http://localhost:3000/hook", '{"secret":"whsec_…","allow_private":["127.0.0.1"]}'],
    ["http://192.168.1.7/hook", '{"secret":"whsec_…","allow_private":["192.168.1.7"]}'],
    ["http://[::1]:3000/hook", '{"secret":"whsec_…","allow_private":["::1"]}'],
    ["http://10.0.0.1.example.com/hook", '{"secret":"whsec_…"}'],
    ["/hooks/agent", '"allow_private":["127.0.0.1"]}'],
  ])("a webhook to %s names everything it needs at once while webhooks are off", async (webhook, setting) => {
    const server = await startTestServer({ graphs });
    const path = `/threads/${await newThread(server)}/runs`;
    const { status, body } = await server.request("POST", path, { ...hello, webhook });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "unsupported_option" });
    const { detail } = body as { detail: string };
    expect(detail).toContain(setting);
    expect(detail).toContain('with a secret from: echo "whsec_$(openssl rand -base64 32)"');
    if (webhook.startsWith("/")) expect(detail).toContain("http://127.0.0.1:2024/hooks/agent");
  });

  it("invalid secrets and addresses are rejected in the settings", async () => {
    const open = (more: object) =>
      startTestServer({ graphs, settings: { webhooks: { ...webhooks, ...more } } });
    await expect(open({ secret: "whsec_short" })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("is not a Standard Webhooks secret") as string,
      hint: expect.stringMatching(
        /"secret":"whsec_….*"allow_private":\["127\.0\.0\.1"\].*openssl rand/,
      ) as string,
    });
    await expect(open({ allow_private: ["intranet"] })).rejects.toThrow('"intranet" is not an address');
  });
});
