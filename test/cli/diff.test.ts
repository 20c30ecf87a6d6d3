import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { diffPage } from "../../src/cli/diff/page.js";
import { changeLines } from "../../src/view/change-lines.js";
import { changesBetween, jsonPatch, type PatchOperation } from "../../src/view/changes.js";
import { cli, type CliOptions } from "./harness.js";
import { type Seeded, seedProject } from "./seeded.js";

const lines = (before: unknown, after: unknown): string[] =>
  changeLines(changesBetween(before, after)).map(({ mark, place, text }) => `${mark} ${place}: ${text}`);

/** Applies the subset of RFC 6902 that `diff` writes. */
function applied(document: unknown, patch: readonly PatchOperation[]): unknown {
  const root = { "": structuredClone(document) } as Record<string, unknown>;
  for (const { op, path, value } of patch) {
    const keys = ["", ...path.split("/").slice(1)].map((key) =>
      key.replaceAll("~1", "/").replaceAll("~0", "~"),
    );
    const last = keys.pop() ?? "";
    const parent = keys.reduce((inner, key) => inner[key] as Record<string, unknown>, root);
    if (Array.isArray(parent))
      parent.splice(Number(last), op === "add" ? 0 : 1, ...(op === "remove" ? [] : [value]));
    else if (op === "remove") delete parent[last];
    // A plain assignment to `__proto__` would not create a key.
    else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true });
  }
  return root[""];
}

describe("changes between two values", () => {
  it("messages are matched by id", () => {
    const before = {
      messages: [
        { id: "1", type: "human", content: "a" },
        { id: "2", type: "ai", content: "b" },
      ],
    };
    const after = {
      messages: [
        { id: "0", type: "system", content: "s" },
        { id: "1", type: "human", content: "a" },
        { id: "2", type: "ai", content: "c" },
      ],
    };
    expect(lines(before, after)).toEqual(["+ messages[0]: system: s", '~ messages[2].content: "b" -> "c"']);
    expect(lines(after, before)).toEqual(["- messages[0]: system: s", '~ messages[1].content: "c" -> "b"']);
  });

  it("messages that got new ids are matched by content", () => {
    const said = (id: string, content: string) => ({ id, type: "human", content });
    const before = [said("1", "a"), said("2", "b"), said("3", "c")];
    expect(lines(before, [said("4", "a"), said("5", "b"), said("6", "x"), said("7", "c")])).toEqual([
      "+ [2]: human: x",
      '~ [0].id: "1" -> "4"',
      '~ [1].id: "2" -> "5"',
      '~ [3].id: "3" -> "7"',
    ]);
  });

  it("added, removed and changed keys are listed", () => {
    expect(lines({ a: 1, b: { c: [1, 2] } }, { b: { c: [1, 3] }, d: null })).toEqual([
      "- a: 1",
      "~ b.c[1]: 2 -> 3",
      "+ d: null",
    ]);
    expect(lines({ a: 1 }, { a: 1 })).toEqual([]);
    expect(lines([1], "x")).toEqual(['~ (all): [1] -> "x"']);
  });

  it("an insertion into a long list is one change", () => {
    const list = Array.from({ length: 500 }, (_, index) => `item ${index}`);
    expect(lines(list, list.toSpliced(250, 0, "new"))).toEqual(['+ [250]: "new"']);
    expect(lines(list.toSpliced(250, 0, "new"), list)).toEqual(['- [250]: "new"']);
  });

  it("the JSON patch turns the first value into the second", () => {
    const message = fc.record({
      id: fc.constantFrom("1", "2", "3", "4"),
      content: fc.constantFrom("a", "b"),
    });
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.record({
        messages: fc.uniqueArray(message, { selector: ({ id }) => id }),
        renamed: fc.uniqueArray(message, { selector: ({ id }) => id }),
        log: fc.array(fc.nat(3)),
      }),
      fc.array(fc.array(fc.nat(2))),
    );
    fc.assert(
      fc.property(value, value, (before, after) => {
        const [a, b] = JSON.parse(JSON.stringify([before, after])) as [unknown, unknown];
        const changes = changesBetween(a, b);
        expect(applied(a, jsonPatch(changes))).toEqual(b);
        expect(changes.length === 0).toBe(isDeepStrictEqual(a, b));
      }),
      { numRuns: 500 },
    );
  });
});

describe("diff", () => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await seedProject();
  });
  afterAll(() => seeded.project.remove());
  const diff = (argv: string[], options: CliOptions = {}) =>
    cli(["diff", ...argv], { cwd: seeded.project.dir, ...options });

  it("two checkpoints differ by the messages between them", async () => {
    const { chat, fork } = seeded;
    const { code, stdout } = await diff([`${chat}@${fork}`, chat]);
    expect(code).toBe(0);
    expect(stdout.split("\n").slice(2)).toEqual([
      "+ messages[2]: human: other two",
      "+ messages[3]: ai: echo: other two",
      "",
    ]);
    expect(stdout).toMatch(new RegExp(`^--- ${chat}@${fork}\n\\+\\+\\+ ${chat}@`));
  });

  it("--exit-code exits with code 1 if there are differences", async () => {
    const { chat, fork } = seeded;
    expect((await diff([`${chat}@0`, chat, "--exit-code"])).code).toBe(1);
    expect(await diff([`${chat}@${fork}`, `${chat}@1`, "--exit-code"])).toMatchObject({
      code: 0,
      stdout: "",
    });
  });

  it("a JSON file can be compared with a thread", async () => {
    const { chat, project } = seeded;
    const state = await cli(["inspect", "checkpoint", chat, "--json"], { cwd: project.dir });
    await project.put("state.json", state.stdout);
    expect((await diff(["state.json", chat, "--exit-code"])).code).toBe(0);
    await project.put("values.json", { n: 3 });
    expect((await diff(["values.json", seeded.vault])).stdout).toContain("~ n: 3 -> 2");
    await project.put("broken.json", "{");
    expect((await diff(["broken.json", chat])).code).toBe(2);
    expect((await diff(["state.json", "values.json"], { cwd: project.dir })).code).toBe(0);
  });

  it("--path and --ignore limit the comparison", async () => {
    const { chat, fork } = seeded;
    const sides = [`${chat}@${fork}`, chat];
    const last = await diff([...sides, "--path", "messages[-1].content"]);
    expect(last.stdout).toContain('~ (all): "echo: one" -> "echo: other two"');
    expect((await diff([...sides, "--ignore", "messages", "--exit-code"])).code).toBe(0);
    const kept = await diff([...sides, "--ignore", "messages.*.id", "--ignore", "messages[-1]", "--json"]);
    expect((JSON.parse(kept.stdout) as { changes: unknown[] }).changes).toHaveLength(2);
    expect((await diff([...sides, "--path", "a["])).code).toBe(2);
  });

  it("--format json-patch and --json print valid JSON", async () => {
    const sides = [`${seeded.chat}@0`, seeded.chat];
    const patch = JSON.parse((await diff([...sides, "--format", "json-patch"])).stdout) as PatchOperation[];
    expect(patch.map(({ op, path }) => `${op} ${path}`)).toEqual(
      [1, 2, 3].map((index) => `add /messages/${index}`),
    );
    expect(JSON.parse((await diff([...sides, "--json"])).stdout)).toMatchObject({
      equal: false,
      changes: [{}, {}, {}],
    });
    const equal = await diff([seeded.chat, seeded.chat, "--json"]);
    expect(JSON.parse(equal.stdout)).toMatchObject({ equal: true, changes: [] });
  });

  it("the HTML page is self-contained and escapes its data", () => {
    const hostile = `</td><script>alert(1)</script>"'&\u001b[2J`;
    const page = diffPage([hostile, "b"], [{ mark: "+", place: hostile, text: hostile }]);
    expect(page).not.toMatch(/<script|\u001b|https?:|src=|href=/);
    expect(page).toContain("&#60;/td&#62;&#60;script&#62;");
    expect(page).toContain("default-src 'none'");
  });
});
