/** Commands shown in documents exist and have the flags that are shown. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { type CommandHelp, readHelp } from "./helpers/cli-help.js";
import { DOCUMENTS, ROOT } from "./helpers/markdown.js";

const TEMPLATES = ["agent-tools", "chat", "hitl", "minimal"].map((name) => `templates/${name}/README.md`);

let help: CommandHelp[];
let names: Set<string>;
beforeAll(async () => {
  help = await readHelp();
  names = new Set(help.map(({ name }) => name));
});

/** Code in a document: shell blocks without quoted strings, and inline code. */
function codeOf(text: string): string[] {
  const fences = Array.from(
    text.matchAll(/^ *```(?:sh|yaml|json)\n([^]*?)^ *```$/gm),
    ([, code = ""]) => code,
  );
  const prose = text.replace(/^ *```[^]*?^ *```$/gm, "");
  const inline = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code);
  return [...fences, ...inline].map((code) => code.replace(/'[^']*'|"[^"\n]*"/g, "Q"));
}

/** The words of each call, from the command name to the shell operator that ends it. */
function callsIn(code: string): string[][] {
  // `state key "notes" …` is not a call: without the program name, a group must be followed by one of its
  // commands.
  const [first = "", second = ""] = code.split(" ");
  const isBare = second !== "" && (names.has(`${first} ${second}`) || (names.has(first) && !isGroup(first)));
  const text = isBare ? `graph-serve ${code}` : code;
  return Array.from(text.matchAll(/(?<![\w./-])graph-serve ([a-z][^\n|>#;&)]*)/g), ([, call = ""]) =>
    call.trim().split(/\s+/),
  );
}

const isGroup = (name: string) => help.some((one) => one.name === name && one.commands.length > 0);

function faultOf(words: readonly string[]): string | undefined {
  const [first = "", second = ""] = words;
  const name = names.has(`${first} ${second}`) ? `${first} ${second}` : first;
  if (!names.has(name) || (isGroup(name) && /^[a-z]+$/.test(second)))
    return `unknown command ${first} ${second}`;
  const known = help
    .filter((one) => one.name === "" || one.name === name)
    .flatMap(({ options }) => options.flatMap(({ term }) => term.match(/--?[a-z][\w-]*/g) ?? []));
  const unknown = words.find(
    (word) => /^--?[a-z]/.test(word) && !known.includes(word.replace(/[=,.].*$/, "")),
  );
  return unknown === undefined ? undefined : `${name} has no ${unknown}`;
}

describe("documented commands", () => {
  it.each([...DOCUMENTS, ...TEMPLATES])("the commands in %s exist with their flags", (document) => {
    const calls = codeOf(readFileSync(join(ROOT, document), "utf8")).flatMap(callsIn);
    const faults = calls.map((words) => [words.join(" "), faultOf(words)] as const);
    expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
  });

  it("the commands in the tour are found, and a removed command is reported", () => {
    const calls = codeOf(readFileSync(join(ROOT, "docs/tour.md"), "utf8")).flatMap(callsIn);
    expect(calls.length).toBeGreaterThan(5);
    expect(faultOf(["threads", "get", "ID"])).toBe("unknown command threads get");
    expect(faultOf(["nonsense", "--json"])).toBe("unknown command nonsense --json");
    expect(faultOf(["dev", "--env-file", ".env"])).toBe("dev has no --env-file");
  });
});
