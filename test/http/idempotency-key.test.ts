/** The Idempotency-Key header on every route that creates a run. */
import { describe, expect, it } from "vitest";
import { graphs, says } from "../clients/open.js";
import { startTestServer } from "../helpers/app.js";
import { openTwoUsers, secretInput } from "../helpers/two-users.js";

const KEY = { "Idempotency-Key": "order-17" };
const hello = { assistant_id: "chat", input: says("hello") };

describe("the header Idempotency-Key", () => {
  it.each(["", "/wait", "/stream"])(
    "repeated requests to /threads/{thread_id}/runs%s create one run",
    async (route) => {
      const { request } = await startTestServer({ graphs });
      const { thread_id } = (await request("POST", "/threads", {})).body as { thread_id: string };
      const path = `/threads/${thread_id}/runs`;
      const ask = () => request("POST", `${path}${route}`, hello, KEY);
      const [first, second] = await Promise.all([ask(), ask()]);
      const places = [first, second, await ask()].map(({ status, headers }) => [
        status,
        headers.get("content-location"),
      ]);
      const [run] = (await request("GET", path)).body as { run_id: string }[];
      expect(places).toEqual(Array(3).fill([200, `${path}/${run?.run_id}`]));
      expect((await request("GET", path)).body).toHaveLength(1);
    },
  );

  it.each(["", "/wait", "/stream"])(
    "repeated requests to /runs%s create one run, even after it ended",
    async (route) => {
      const { request } = await startTestServer({ graphs });
      const ask = () => request("POST", `/runs${route}`, hello, KEY);
      const [first, second] = await Promise.all([ask(), ask()]);
      const again = await ask();
      expect([first.status, second.status, again.status]).toEqual([200, 200, 200]);
      const placeOf = ({ headers }: typeof first) => headers.get("content-location");
      expect([placeOf(second), placeOf(again)]).toEqual([placeOf(first), placeOf(first)]);
      if (route === "/wait") expect(again.body).toEqual(first.body);
      expect((await request("POST", "/threads/search", {})).body).toHaveLength(1);
    },
  );

  it("the header equals the idempotency_key field and is rejected for a different request", async () => {
    const { request } = await startTestServer({ graphs });
    const first = await request("POST", "/runs", hello, KEY);
    const again = await request("POST", "/runs", { ...hello, idempotency_key: "order-17" });
    expect(again.body).toMatchObject({ run_id: (first.body as { run_id: string }).run_id });
    const other = await request("POST", "/runs", { ...hello, metadata: { a: 1 } }, KEY);
    expect([other.status, other.text]).toEqual([422, expect.stringContaining("idempotency_key_reused")]);
    const long = await request("POST", "/runs", hello, { "Idempotency-Key": "k".repeat(256) });
    expect([long.status, long.text]).toEqual([422, expect.stringContaining("1 to 255 characters")]);
  });

  it("the same key of another user creates another run", async () => {
    const { ann, anna } = await openTwoUsers();
    const run = { assistant_id: "chat", input: secretInput };
    const [first, second] = [await ann("POST /runs", run, KEY), await anna("POST /runs", run, KEY)];
    const idOf = ({ body }: { body: unknown }) => (body as { run_id: string }).run_id;
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(idOf(second)).not.toBe(idOf(first));
    expect(idOf(await ann("POST /runs", run, KEY))).toBe(idOf(first));
  });
});
