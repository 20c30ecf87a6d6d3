/** The commands that documents show are commands that there are, with flags that they have. */
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

/** What stands in code: shell blocks without what is quoted, and what stands between backticks. */
function codeOf(text: string): string[] {
  const fences = Array.from(
    text.matchAll(/^ *```(?:sh|yaml|json)\n([^]*?)^ *```$/gm),
    ([, code = ""]) => code,
  );
  const prose = text.replace(/^ *```[^]*?^ *```$/gm, "");
  const inline = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, code = ""]) => code);
  return [...fences, ...inline].map((code) => code.replace(/'[^']*'|"[^"\n]*"/g, "Q"));
}

/** The words of each call, from the command's name on, up to what ends it in a shell. */
function callsIn(code: string): string[][] {
  // A text such as `state key "notes" …` is none: a command without its program names what is below it.
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
    return `there is no command ${first} ${second}`;
  const known = help
    .filter((one) => one.name === "" || one.name === name)
    .flatMap(({ options }) => options.flatMap(({ term }) => term.match(/--?[a-z][\w-]*/g) ?? []));
  const unknown = words.find(
    (word) => /^--?[a-z]/.test(word) && !known.includes(word.replace(/[=,.].*$/, "")),
  );
  return unknown === undefined ? undefined : `${name} has no ${unknown}`;
}

describe("the commands of", () => {
  it.each([...DOCUMENTS, ...TEMPLATES])("%s are there, with their flags", (document) => {
    const calls = codeOf(readFileSync(join(ROOT, document), "utf8")).flatMap(callsIn);
    const faults = calls.map((words) => [words.join(" "), faultOf(words)] as const);
    expect(faults.filter(([, fault]) => fault !== undefined)).toEqual([]);
  });

  it("the tour are found, and what is no command any more would be", () => {
    const calls = codeOf(readFileSync(join(ROOT, "docs/tour.md"), "utf8")).flatMap(callsIn);
    expect(calls.length).toBeGreaterThan(5);
    expect(faultOf(["threads", "get", "ID"])).toBe("there is no command threads get");
    expect(faultOf(["nonsense", "--json"])).toBe("there is no command nonsense --json");
    expect(faultOf(["dev", "--env-file", ".env"])).toBe("dev has no --env-file");
  });
});
