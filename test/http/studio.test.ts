/** How the Studio's files are served. The page itself is tested in test/studio. */
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { createServer, type RequestOptions, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { createApp } from "../../src/http/app.js";
import { startServer } from "../../src/http/server.js";
import { client } from "../helpers/app.js";
import { fakeService } from "../helpers/fake-service.js";

async function start(
  settings: Parameters<typeof fakeService>[0] = {},
  { studio }: { studio?: boolean } = { studio: true },
) {
  const server = await startServer(fakeService(settings), { host: "127.0.0.1", port: 0, studio });
  onTestFinished(() => server.close(0));
  return { ...client(server.url), port: server.port };
}

interface Raw {
  status: number | undefined;
  headers: Record<string, string | string[] | undefined>;
  bytes: Buffer;
}

/** fetch can neither set the Host header nor return the compressed bytes. */
function raw(port: number, path: string, headers: RequestOptions["headers"] = {}): Promise<Raw> {
  return new Promise((resolve, reject) => {
    send({ host: "127.0.0.1", port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    })
      .on("error", reject)
      .end();
  });
}

const sourcesOf = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map((match) => match[1] ?? "");

describe("the Studio's files", () => {
  it("the files are served only if the setting or the caller enables them", async () => {
    const none = await start({}, {});
    expect((await none.request("GET", "/studio/")).status).toBe(404);
    const set = await start({ settings: { studio: true } }, {});
    expect((await set.request("GET", "/studio/")).status).toBe(200);
    const refused = await start({ settings: { studio: true } }, { studio: false });
    expect((await refused.request("GET", "/studio/")).status).toBe(404);
  });

  it("the page is revalidated on each request and its assets are immutable", async () => {
    const { request } = await start();
    const page = await request("GET", "/studio/");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const sources = sourcesOf(page.text);
    expect(sources.filter((source) => /\.(js|css)$/.test(source))).toHaveLength(2);
    for (const source of sources) {
      const { status, headers } = await request("GET", `/studio/${source}`);
      expect(status, source).toBe(200);
      const isHashed = source.startsWith("assets/");
      expect(headers.get("cache-control")).toBe(
        isHashed ? "public, max-age=31536000, immutable" : "no-cache",
      );
    }
    expect((await request("GET", "/studio/licenses.txt")).text).toContain("preact");
  });

  it("the files are compressed when the client accepts gzip", async () => {
    const { port } = await start();
    const plain = await raw(port, "/studio/");
    expect(plain.headers["content-encoding"]).toBeUndefined();
    const packed = await raw(port, "/studio/", { "accept-encoding": "gzip" });
    expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
    expect(gunzipSync(packed.bytes).toString()).toBe(plain.bytes.toString());
  });

  it("the CSP allows only the Studio's own scripts, requires trusted types and forbids framing", async () => {
    const { request } = await start();
    const { headers } = await request("GET", "/studio/");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  it("pages of other origins cannot read the files, regardless of CORS settings", async () => {
    const { request } = await start({ settings: { cors_origins: ["*"] } });
    const origin = { Origin: "https://elsewhere.example" };
    expect(
      (await request("GET", "/info", undefined, origin)).headers.get("access-control-allow-origin"),
    ).toBe("*");
    const page = await request("GET", "/studio/", undefined, origin);
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
    for (const [site, mode, status] of [
      ["cross-site", "no-cors", 403],
      ["same-site", "cors", 403],
      ["cross-site", "navigate", 200],
      ["none", "navigate", 200],
      ["same-origin", "no-cors", 200],
    ] as const) {
      const headers = { "Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode };
      const { port } = await start();
      expect((await raw(port, "/studio/", headers)).status, `${site} ${mode}`).toBe(status);
    }
  });

  it("local hosts and allowed_hosts are accepted, even in an embedding application", async () => {
    const app = express().use(
      "/agents",
      createApp(fakeService({ settings: { allowed_hosts: ["ours.example"] } }), { studio: true }),
    );
    const server = createServer(app).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const status = async (host: string) => (await raw(port, "/agents/studio/", { host })).status;
    expect([await status("localhost"), await status("ours.example"), await status("evil.example")]).toEqual([
      200, 200, 403,
    ]);
    const moved = await raw(port, "/agents/studio");
    expect([moved.status, moved.headers.location]).toEqual([302, "studio/"]);
  });

  it("the files need no API key", async () => {
    const { request } = await start({ settings: { api_keys: ["a-key-of-16-chars"] } });
    expect((await request("GET", "/studio/")).status).toBe(200);
    expect((await request("POST", "/threads/search", {})).status).toBe(401);
  });

  it.each(["/studio/nope.js", "/studio/..%2fpackage.json", "/studio/assets/", "/studio/index.html/"])(
    "%s returns 404",
    async (path) => {
      const { port } = await start();
      expect((await raw(port, path)).status).toBe(404);
    },
  );
});
