/** Bodies that are being read share a budget: the largest make room, and small ones are read meanwhile. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { serve } from "../helpers/app.js";
import { fakeService, someThread } from "../helpers/fake-service.js";

const MB = 2 ** 20;

async function smallServer() {
  const threads = { create: async () => someThread };
  return serve(fakeService({ settings: { max_incoming_bytes: 2 * MB }, threads }));
}

/** A request that has sent `bytes` of a body of 10 MB. */
function begin(url: string, bytes: number) {
  const headers = { "content-length": 10 * MB };
  const request = httpRequest(`${url}/threads`, { method: "POST", headers });
  const answer = once(request, "response") as Promise<[IncomingMessage]>;
  answer.catch(() => undefined);
  request.on("error", () => undefined);
  request.write(Buffer.alloc(bytes, " "));
  return { answer, leave: () => request.destroy() };
}

it("large bodies make room for others, and small ones are accepted", async () => {
  const { url, request } = await smallServer();
  const large = [0.9, 0.8, 0.7].map((size) => begin(url, size * MB));
  const refused: unknown[] = [];
  for (const { answer } of large) {
    const note = ([{ statusCode, headers }]: [IncomingMessage]) =>
      refused.push([statusCode, headers["retry-after"]]);
    void answer.then(note, () => undefined);
  }
  await expect.poll(() => refused).toEqual([[503, "1"]]);
  // Two of them are left, and neither is refused for a small one until there is no room for all.
  expect((await request("POST", "/threads", {})).status).toBe(200);
  expect(refused).toHaveLength(1);
  expect((await request("POST", "/threads", { metadata: { a: "x".repeat(0.6 * MB) } })).status).toBe(200);
  for (const one of large) one.leave();
});

it("inflated bytes count", async () => {
  const { request } = await smallServer();
  const text = JSON.stringify({ metadata: { a: "x".repeat(3 * MB) } });
  const headers = { "content-encoding": "gzip" };
  const answer = await request("POST", "/threads", gzipSync(text), headers);
  expect(answer).toMatchObject({ status: 503, body: { code: "server_busy" } });
  expect((await request("POST", "/threads", gzipSync("{}"), headers)).status).toBe(200);
});

it("bodies that were read or cut off make room again", async () => {
  const { url, request } = await smallServer();
  for (let turn = 0; turn < 5; turn++) {
    const body = { metadata: { a: "x".repeat(1.5 * MB) } };
    // The server may not have noticed yet that the client of the last turn has left.
    await expect.poll(async () => (await request("POST", "/threads", body)).status).toBe(200);
    const { answer, leave } = begin(url, 1.5 * MB);
    await request("GET", "/ok");
    leave();
    await expect(answer).rejects.toThrow();
  }
});
