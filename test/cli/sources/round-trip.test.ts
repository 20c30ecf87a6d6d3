/** An exported thread is unchanged after an import into another storage, and can be resumed there. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { describeSqlite as describe, itSqlite as it } from "../../helpers/with-sqlite.js";
import type { ThreadFile } from "../../../src/models/thread-file.js";
import { cli, type CliResult } from "../harness.js";
import { createEveryKind, KINDS, type EveryKind, type Kind } from "./every-kind.js";

let every: EveryKind;
beforeAll(async () => {
  every = await createEveryKind();
});
afterAll(() => every.project.remove());

const run = (...argv: string[]): Promise<CliResult> => cli(argv, { cwd: every.project.dir });
const at = (file: string) => ["--checkpointer-uri", file];

async function exported(id: string, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await run("export", id, "--raw", ...argv);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

async function imported(kind: Kind, ...argv: string[]): Promise<{ before: string; id: string }> {
  const before = await exported(every.threads[kind]);
  await every.project.put(`${kind}.json`, before);
  const { code, stdout, stderr } = await run("import", `${kind}.json`, ...argv);
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  return { before, id: stdout.trim() };
}

describe("export, import and export again", () => {
  it.each(KINDS)("the %s thread exports to the same file", async (kind) => {
    const { before, id } = await imported(kind, ...at("./copy.db"));
    expect(await exported(id, ...at("./copy.db"))).toBe(before);
  });

  it.each(KINDS)("the %s thread exports to the same file under a new id", async (kind) => {
    const { before, id } = await imported(kind, "--as", "new", ...at("./other-ids.db"));
    const again = await exported(id, ...at("./other-ids.db"));
    const [old, now] = [before, again].map((text) => JSON.parse(text) as ThreadFile);
    const renamed = now?.runs.reduce(
      (text, { run_id }, place) => text.replaceAll(run_id, old?.runs[place]?.run_id ?? ""),
      again,
    );
    expect(renamed?.replaceAll(id, every.threads[kind])).toBe(before);
  });

  it("the file contains every namespace", async () => {
    const { subgraphs, checkpoints = [] } = JSON.parse(await exported(every.threads.team)) as ThreadFile;
    const { namespace } = every;
    expect(new Set(subgraphs.map(({ checkpoint }) => checkpoint?.checkpoint_ns))).toEqual(
      new Set([namespace]),
    );
    expect(new Set(checkpoints.map(({ checkpoint_ns }) => checkpoint_ns))).toEqual(new Set(["", namespace]));
  });
});

describe("an imported thread", () => {
  interface Values {
    messages?: { content: string }[];
    notes?: string[];
  }
  /** Imports the thread, and runs the command that import suggests with this answer. */
  const goOn = async (kind: Kind, strip: (file: ThreadFile) => void, answer: string): Promise<Values> => {
    const file = JSON.parse(await exported(every.threads[kind])) as ThreadFile;
    strip(file);
    await every.project.put("resumed.json", file);
    const { stderr } = await run("import", "resumed.json", "--as", "new", ...at("./resumed.db"));
    const [, command = ""] = /next {2}graph-serve (.+) --resume true/.exec(stderr) ?? [];
    const resume = ["--resume", JSON.stringify(answer), "--json", "--checkpointer-scheme", "sqlite"];
    const { code, stdout } = await run(...command.split(" "), ...resume);
    expect({ command, code }).toEqual({ command, code: 0 });
    return (JSON.parse(stdout) as { values: Values }).values;
  };
  const said = ({ messages = [] }: Values) => messages.map(({ content }) => content);
  const SAID = ["help", "to the expert", "thinking", "answer: the red one", "closed"];
  const asItIs = () => undefined;
  const asServersShowIt = (file: ThreadFile) => void delete file.checkpoints;

  it("the thread resumes inside its subgraph", async () => {
    expect(said(await goOn("team", asItIs, "the red one"))).toEqual(SAID);
  });

  it("the thread resumes with the sent payloads and the earlier writes", async () => {
    const { notes } = await goOn("fan", asItIs, "later");
    expect(notes).toEqual(["a done", "b done", "c later"]);
  });

  it("a thread exported by a server resumes inside its subgraph", async () => {
    expect(said(await goOn("team", asServersShowIt, "the red one"))).toEqual(SAID);
  });

  it("a thread exported by a server lacks sent payloads, and import warns", async () => {
    const file = JSON.parse(await exported(every.threads.fan)) as ThreadFile;
    asServersShowIt(file);
    await every.project.put("pulled.json", file);
    const { code, stderr } = await run("import", "pulled.json", "--as", "new", ...at("./pulled.db"));
    expect(code).toBe(0);
    expect(stderr).toContain("warn  the file does not contain the values sent to write");
  });
});

describe("redaction", () => {
  it.each<[Kind, string, string]>([
    ["chat", "messages[*].content", "other two"],
    ["team", "messages[*].content", "to the expert"],
    ["fan", "*", "a done"],
    ["odd", "odd.alpha", '"x":2'],
  ])("redacting the %s thread with %s leaves no trace", async (kind, path, text) => {
    expect(await exported(every.threads[kind])).toContain(text);
    const redacted = await exported(every.threads[kind], "--redact", path);
    expect(redacted.replaceAll(/"said [^"]*"/g, "")).not.toContain(text);
  });
});

describe("the output filter", () => {
  it("stored checkpoints are filtered", async () => {
    const { stdout } = await run("export", every.threads.vault);
    expect(stdout).toContain('"checkpoints"');
    expect(stdout).not.toMatch(/classified|secret/);
    expect(await exported(every.threads.vault)).toContain("classified");
  });

  it("payloads sent to nodes are left out with a warning", async () => {
    const { code, stdout, stderr } = await run("export", every.threads.fan);
    expect(code).toBe(0);
    expect(stdout).not.toContain('"topic":');
    expect(stderr).toContain("values sent to write are omitted");
    expect(await exported(every.threads.fan)).toContain('"topic":"c"');
  });

  it("a filtered file can be imported", async () => {
    await run("export", every.threads.vault, "--out", "filtered.json");
    expect((await run("import", "filtered.json", ...at("./filtered.db"))).code).toBe(0);
    const { stdout } = await run("inspect", "state", every.threads.vault, "--raw", ...at("./filtered.db"));
    expect(JSON.parse(stdout)).toEqual({ n: 2 });
  });
});

describe("a hostile file", () => {
  const constructor = {
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "prompts", "PromptTemplate"],
    kwargs: {},
  };
  const hostile: [string, (file: ThreadFile) => void][] = [
    ["values", ({ checkpoints }) => Object.assign(checkpoints![0]!.channel_values, { n: constructor })],
    ["writes", ({ checkpoints }) => checkpoints![0]!.writes.push(["t", "n", [constructor]])],
    ["metadata", ({ checkpoints }) => Object.assign(checkpoints![0]!.metadata, { x: constructor })],
    [
      "messages",
      ({ checkpoints }) => {
        const id = ["langchain_core", "messages", "AIMessage"];
        const message = { lc: 1, type: "constructor", id, kwargs: { content: constructor } };
        Object.assign(checkpoints![0]!.channel_values, { messages: [message] });
      },
    ],
    [
      "secrets",
      ({ checkpoints }) =>
        Object.assign(checkpoints![0]!.channel_values, { n: { lc: 1, type: "secret", id: ["PATH"] } }),
    ],
    [
      "states",
      (file) => {
        delete file.checkpoints;
        Object.assign(file.states[0]!.values as object, { n: constructor });
      },
    ],
  ];

  it.each(hostile)("a file with objects in its %s is rejected completely", async (_, spoil) => {
    const file = JSON.parse(await exported(every.threads.odd)) as ThreadFile;
    spoil(file);
    await every.project.put("hostile.json", file);
    const { code, stdout } = await run("import", "hostile.json", "--json", ...at("./hostile.db"));
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { error: { code: "invalid_request" } }]);
    expect((await run("inspect", "thread", every.threads.odd, ...at("./hostile.db"))).code).toBe(4);
  });
});

it("--out writes a file and prints nothing on stdout", async () => {
  const { stdout } = await run("export", every.threads.chat, "--out", "chat-out.json");
  expect(stdout).toBe("");
  expect(await readFile(join(every.project.dir, "chat-out.json"), "utf8")).toContain('"states"');
});
