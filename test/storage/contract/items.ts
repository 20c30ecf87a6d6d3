import { describe, expect, it } from "vitest";
import type { ItemTable, StoredItem } from "../../../src/storage/contract/items.js";
import type { Storage } from "../../../src/storage/contract/storage.js";
import { ItemStore } from "../../../src/storage/item-store.js";
import { newId } from "../../../src/support/ids.js";

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

/** For backends that also store the long-term memory. */
export function itemTests(storage: () => Storage): void {
  const items = (): ItemTable => {
    const table = storage().items;
    if (!table) throw new Error("this backend does not store items");
    return table;
  };
  const write = (namespace: string, key: string, second: number, expires_at: string | null = null) =>
    items().put({
      namespace,
      key,
      value: { second },
      updated_at: at(second),
      ttl_minutes: expires_at === null ? null : 1,
      expires_at,
    });

  const keysUnder = async (under: string, second: number) =>
    (await items().page({ under, limit: 100, at: at(second) })).map(({ key }) => key);

  describe("items", () => {
    it("overwriting an item keeps its creation time", async () => {
      const space = newId();
      await write(space, "k", 1);
      await write(space, "k", 2);
      expect(await items().get(space, "k", at(3))).toEqual({
        namespace: space,
        key: "k",
        value: { second: 2 },
        created_at: at(1),
        updated_at: at(2),
        ttl_minutes: null,
      });
      await items().delete(space, "k");
      expect(await items().get(space, "k", at(3))).toBeUndefined();
    });

    it("items are listed by namespace prefix, in order", async () => {
      const space = newId();
      for (const [namespace, key] of [
        [`${space}.b`, "z"],
        [`${space}.b`, "a"],
        [space, "top"],
        [`${space}x`, "other"],
        [`${space}.%`, "_"],
      ] as const) {
        await write(namespace, key, 1);
      }
      expect(await keysUnder(space, 2)).toEqual(["top", "_", "a", "z"]);
      expect(await keysUnder(`${space}.b`, 2)).toEqual(["a", "z"]);
      expect(await keysUnder(`${space}.%`, 2)).toEqual(["_"]);
      const after = { namespace: `${space}.b`, key: "a" };
      const [next, ...rest] = await items().page({ under: space, after, limit: 5, at: at(2) });
      expect([next?.key, rest]).toEqual(["z", []]);
      const spaces = (await items().namespaces(at(2))).filter((namespace) => namespace.startsWith(space));
      expect(spaces).toEqual([space, `${space}.%`, `${space}.b`, `${space}x`]);
    });

    it("pages return every item once, in order and unchanged", async () => {
      const space = newId();
      const names = [`${space}`, `${space}.a`, `${space}.b`].flatMap((namespace) =>
        ["1", "2", "3"].map((key) => [namespace, key] as const),
      );
      for (const [namespace, key] of names) await write(namespace, key, 1, at(50));
      await write(space, "expired", 1, at(2));
      const found = [];
      let after: { namespace: string; key: string } | undefined = { namespace: space, key: "" };
      for (;;) {
        const page: StoredItem[] = await items().page({ after, limit: 2, at: at(3) });
        found.push(...page.filter(({ namespace }) => namespace.startsWith(space)));
        after = page.at(-1);
        if (!after || page.length < 2) break;
      }
      expect(found.map(({ namespace, key }) => [namespace, key])).toEqual(names);
      expect(found[0]).toMatchObject({ created_at: at(1), updated_at: at(1), expires_at: at(50) });
      expect((await items().page({ limit: 1, at: at(3) })).length).toBe(1);
    });

    it("a restored item keeps its timestamps", async () => {
      const item = {
        namespace: newId(),
        key: "k",
        value: { a: [1, null, "ü"] },
        created_at: at(1),
        updated_at: at(2),
        ttl_minutes: 1.5,
        expires_at: at(30),
      };
      await write(item.namespace, "k", 20);
      await items().restore(item);
      await items().restore(item);
      const [kept] = await items().page({ after: { ...item, key: "" }, limit: 1, at: at(3) });
      expect(kept).toEqual(item);
    });

    it("vectors are stored with their item, and read only on request", async () => {
      const space = newId();
      const vectors = Uint8Array.from([0, 1, 128, 255, ...new Array<number>(6000).fill(7)]);
      const item = { namespace: space, key: "k", value: { a: 1 }, updated_at: at(1), ttl_minutes: null };
      const read = async () => (await items().page({ under: space, limit: 5, at: at(2), vectors: true }))[0];
      const bytesOf = async () => {
        const stored = await read();
        return stored?.vectors && [...stored.vectors];
      };
      await items().put({ ...item, expires_at: null, vectors });
      expect(await bytesOf()).toEqual([...vectors]);
      expect(await items().get(space, "k", at(2))).not.toHaveProperty("vectors");
      expect((await items().page({ under: space, limit: 5, at: at(2) }))[0]).not.toHaveProperty("vectors");
      await items().touch(space, "k", at(30));
      expect(await bytesOf()).toEqual([...vectors]);
      await items().put({ ...item, expires_at: null });
      expect(await read()).toEqual({ ...item, created_at: at(1), expires_at: null });
      await items().restore({ ...item, created_at: at(1), expires_at: null, vectors });
      expect(await bytesOf()).toEqual([...vectors]);
      await items().delete(space, "k");
      expect(await read()).toBeUndefined();
    });

    it("a graph cannot name an item with text that databases change, and its value is the same on all of them", async () => {
      const space = newId();
      const store = new ItemStore(items());
      for (const text of ["a\0", "a\ud83d", "\ude00\ud83d"]) {
        // LangGraph's own error, in its newest release.
        const label = /is not allowed|labels cannot contain NUL/;
        await expect(store.put([space, text], "k", {})).rejects.toThrow(label);
        await expect(store.put([space], text, {})).rejects.toThrow("must not contain NUL");
        await expect(store.get([space], text)).rejects.toThrow("must not contain NUL");
        await expect(store.delete([space], text)).rejects.toThrow("must not contain NUL");
      }
      await store.put([space], "😀", { "a\0": "\ud83d", "😀": "\\u0000" });
      expect((await store.get([space], "😀"))?.value).toEqual({ "a\uFFFD": "\uFFFD", "😀": "\\u0000" });
    });

    it("expired items are removed, renewed items are kept", async () => {
      const space = newId();
      await write(space, "short", 1, at(10));
      await write(space, "renewed", 1, at(10));
      await items().touch(space, "renewed", at(30));
      expect(await items().get(space, "short", at(9))).toBeDefined();
      expect(await items().get(space, "short", at(10))).toBeUndefined();
      expect(await keysUnder(space, 20)).toEqual(["renewed"]);
      await write(space, "short", 20);
      expect((await items().get(space, "short", at(21)))?.created_at).toBe(at(20));
      await items().expire(at(40));
      expect(await keysUnder(space, 0)).toEqual(["short"]);
    });
  });
}
