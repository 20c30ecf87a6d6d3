import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../helpers/with-sqlite.js";
import { Lanes, type Node } from "../../src/view/lanes.js";
import { cli, type CliOptions } from "./harness.js";
import { openSeeded, seedProject, type Seeded } from "./seeded.js";

let seeded: Seeded;
beforeAll(async () => {
  seeded = await seedProject();
});
afterAll(() => seeded.project.remove());

const history = (argv: string[], options: CliOptions = {}) =>
  cli(["history", ...argv], { cwd: seeded.project.dir, ...options });

interface Item {
  checkpoint: { checkpoint_id: string };
  metadata: { step: number; run_id: string; source: string };
}
const items = async (...argv: string[]): Promise<Item[]> => {
  const { code, stdout } = await history([...argv, "--json"]);
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { items: Item[] }).items;
};
const idsOf = (list: Item[]): string[] => list.map(({ checkpoint }) => checkpoint.checkpoint_id);

/** The lines without ids, times and durations. */
const outline = (text: string): string[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) =>
      line
        .replace(/[0-9a-f-]{36}/g, "ID")
        .replace(/ {2}\d{4}-\S+Z/g, "")
        .replace(/\d+ ms/g, "N ms"),
    );

describe("history", () => {
  it("branches of time travel are drawn", async () => {
    expect(outline((await history([seeded.chat])).stdout)).toEqual([
      "* ID  step 4  loop",
      "│   ran reply  changed messages  N ms",
      "* ID  step 3  loop",
      "│   changed messages  N ms  next reply",
      "* ID  step 2  input",
      "│ * ID  step 4  loop",
      "│ │   ran reply  changed messages  N ms",
      "│ * ID  step 3  loop",
      "│ │   changed messages  N ms  next reply",
      "│ * ID  step 2  input",
      "├─╯",
      "* ID  step 1  loop",
      "│   ran reply  changed messages  N ms",
      "* ID  step 0  loop",
      "│   changed messages  N ms  next reply",
      "* ID  step -1  input",
    ]);
  });

  it("questions and errors are shown", async () => {
    expect((await history([seeded.asking])).stdout).toContain("next ask  asked a question");
    expect((await history([seeded.failed])).stdout).toMatch(
      / {2}failed at \S+fail\.ts:6:11: RangeError: kaboom$/m,
    );
  });

  it("--oneline prints one line per checkpoint", async () => {
    const { stdout } = await history([seeded.chat, "--oneline"]);
    expect(outline(stdout)).toHaveLength(9);
    expect(outline(stdout)[0]).toBe("ID step 4  loop  ran reply  changed messages  N ms");
    const drawn = await history([seeded.chat, "--oneline", "--graph", "--limit", "4"]);
    expect(outline(drawn.stdout).at(-1)).toBe("│ * ID step 4  loop  ran reply  changed messages  N ms");
  });

  it("--reverse starts with the oldest checkpoint", async () => {
    expect(idsOf(await items(seeded.chat, "--reverse"))).toEqual(idsOf(await items(seeded.chat)).reverse());
    const { stdout } = await history([seeded.chat, "--reverse", "--oneline"]);
    expect(outline(stdout)[0]).toContain("step -1  input");
  });

  it("--run selects the checkpoints of one run", async () => {
    const found = await items(seeded.chat, "--run", seeded.run);
    expect(found.map(({ metadata }) => metadata.step)).toEqual([1, 0, -1]);
    expect(new Set(found.map(({ metadata }) => metadata.run_id))).toEqual(new Set([seeded.run]));
  });

  it("--node selects the checkpoints that the node produced", async () => {
    expect((await items(seeded.chat, "--node", "reply")).map(({ metadata }) => metadata.step)).toEqual([
      4, 4, 1,
    ]);
    expect(await items(seeded.chat, "--node", "nobody")).toEqual([]);
  });

  it("--limit and --before page through the checkpoints", async () => {
    const all = idsOf(await items(seeded.chat));
    const { stdout } = await history([seeded.chat, "--limit", "4", "--json"]);
    const first = JSON.parse(stdout) as { items: Item[]; next: string };
    expect(first.next).toBe(all[3]);
    const second = await items(seeded.chat, "--before", first.next);
    expect([...idsOf(first.items), ...idsOf(second)]).toEqual(all);
    expect((await history([seeded.chat, "--limit", "4"])).stderr).toContain(`--before ${first.next}`);
    expect(JSON.parse((await history([seeded.chat, "--limit", "9", "--json"])).stdout)).toMatchObject({
      next: null,
    });
  });

  it("--jsonl prints one state per line", async () => {
    const { stdout } = await history([seeded.chat, "--jsonl"]);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Item);
    expect(lines).toEqual(await items(seeded.chat));
  });

  it.each([["--reverse"], ["--node", "reply"]])("--graph cannot be combined with %s", async (...flags) => {
    const { code, stderr } = await history([seeded.chat, "--graph", ...flags]);
    expect(code).toBe(2);
    expect(stderr).toContain("cannot be combined");
  });

  it("a state edit is shown as an update", async () => {
    const service = await openSeeded(seeded.project);
    const { thread_id } = await service.threads.copy(seeded.asking);
    await service.state.update(thread_id, { values: { topic: "dogs" } });
    await service.close();
    const { stdout } = await history([thread_id, "--oneline"]);
    expect(outline(stdout)[0]).toMatch(/^ID step \d+ {2}update {2}changed topic/);
  });

  it("a long thread is read to its end", async () => {
    const service = await openSeeded(seeded.project);
    const { thread_id } = await service.threads.create({ metadata: { graph_id: "vault" } });
    for (let n = 0; n < 120; n++) await service.state.update(thread_id, { values: { n }, as_node: "hide" });
    await service.close();
    const { stdout } = await history([thread_id, "--oneline"]);
    expect(outline(stdout)).toHaveLength(120);
    expect(
      new Set(
        outline(stdout)
          .slice(0, -1)
          .map((line) => line.replace(/step \d+/, "")),
      ),
    ).toEqual(new Set(["ID   update  changed n"]));
  });
});

describe("branch lanes", () => {
  const drawn = (nodes: Node[]): string[] => {
    const lanes = new Lanes();
    return nodes.flatMap((node) => {
      const { before, own } = lanes.draw(node);
      return [...before, own.replace("*", node.id)];
    });
  };
  const node = (id: string, parent?: string): Node => ({ id, parent });

  it("a linear history uses one lane", () => {
    expect(drawn([node("c", "b"), node("b", "a"), node("a")])).toEqual(["c", "b", "a"]);
  });

  it("three branches join in one checkpoint", () => {
    const nodes = [node("e", "a"), node("d", "a"), node("c", "a"), node("a")];
    expect(drawn(nodes)).toEqual(["e", "│ d", "│ │ c", "├─┴─╯", "a"]);
  });

  it("a branch crosses another branch", () => {
    const nodes = [node("f", "a"), node("e", "b"), node("d", "a"), node("c", "b"), node("b", "a"), node("a")];
    expect(drawn(nodes)).toEqual(["f", "│ e", "│ │ d", "│ │ │ c", "│ ├─┼─╯", "│ b │", "├─┴─╯", "a"]);
  });

  it("a finished lane is reused", () => {
    const nodes = [node("e", "d"), node("x"), node("d", "c"), node("y", "c"), node("c")];
    expect(drawn(nodes)).toEqual(["e", "│ x", "d", "│ y", "├─╯", "c"]);
  });
});
