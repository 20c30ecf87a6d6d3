import picocolors from "picocolors";
import { describe, expect, it } from "vitest";
import { escapeControl } from "../../src/view/text.js";
import { errorDocument, errorText } from "../../src/cli/session/report-error.js";
import type { Printer } from "../../src/cli/terminal/print.js";
import { printColumns, TableLayout } from "../../src/cli/terminal/table.js";
import { ConfigError, InvalidRequestError } from "../../src/support/errors.js";

const colors = picocolors.createColors(false);

describe("tables", () => {
  const HEAD = ["ID", "STATUS", "LAST"];
  const rows = [
    [
      "0198c0de-0000-7000-8000-000000000000",
      "idle",
      "a message that is much too long for the width of its row",
    ],
    ["0198c0de-0000-7000-8000-000000000001", "busy", "short"],
  ];

  it("a pipe gets full ids", () => {
    const text = new TableLayout(HEAD, { width: Infinity, colors }).format(rows);
    expect(text).toContain(rows[0]?.[0]);
    expect(text).toContain(rows[0]?.[2]);
    expect(text.split("\n")).toHaveLength(3);
  });

  it.each([40, 60, 80])("lines fit %i columns", (width) => {
    const text = new TableLayout(HEAD, { width, colors }).format(rows);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(width);
    expect(text).toContain("idle");
  });

  it("control characters are escaped", () => {
    const text = new TableLayout(["A"], { width: 80, colors }).format([["\u001b[31mred\u0007\nnext"]]);
    expect(text).toContain("\\u001b[31mred\\u0007\\nnext");
  });
});

describe("escaping", () => {
  it("a column is dropped if wide characters do not fit", () => {
    const printed: string[] = [];
    const print = { width: 18, colors, data: (text: string) => printed.push(text) } as unknown as Printer;
    const columns = [
      { title: "NAME", cell: () => "你好你好你好" },
      { title: "NOTE", cell: () => "note", spare: 1 },
    ];
    printColumns(print, columns, [{}]);
    expect(printed.join()).toContain("你好你好你好");
    expect(printed.join()).not.toContain("NOTE");
  });

  it.each([
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["a\rb\u009bc\u2028d\u202ee", "a\\u000db\\u009bc\\u2028d\\u202ee"],
    ["plain\n\ttext äöü 你好", "plain\n\ttext äöü 你好"],
  ])("%j is escaped", (text, expected) => {
    expect(escapeControl(text)).toBe(expected);
  });
});

describe("error text", () => {
  const text = (error: unknown, verbose = false) =>
    errorText(error, { colors, io: { cwd: "/project", env: {} }, verbose });

  it("the text has message, location and fix", () => {
    const error = new ConfigError('unknown setting "prot"\nsecond line', {
      hint: 'did you mean "port"?',
      location: { file: "/project/conf.json", line: 3, column: 5, frame: "> 3 | x" },
    });
    expect(text(error)).toBe(
      [
        'error  unknown setting "prot"',
        "       second line",
        "   at  conf.json:3:5",
        "       > 3 | x",
        '  fix  did you mean "port"?',
        "",
      ].join("\n"),
    );
  });

  it("all issues are listed", () => {
    const issues = [
      { loc: ["a"], msg: "first", type: "x" },
      { loc: ["b"], msg: "second", type: "x" },
    ];
    expect(text(new InvalidRequestError("first", issues))).toContain("       also: second");
  });

  it("passwords are masked and control characters are escaped", () => {
    const error = new ConfigError("cannot reach postgres://u:secret@db\u001b[2J");
    expect(text(error)).toContain("postgres://u:********@db\\u001b[2J");
    expect(JSON.stringify(errorDocument(error))).not.toContain("secret");
  });

  it("verbose output adds stack trace and causes", () => {
    const error = new ConfigError("outer", { cause: new Error("inner") });
    expect(text(error)).not.toContain("inner");
    expect(text(error, true)).toMatch(/outer[\s\S]*caused by Error: inner/);
  });
});
