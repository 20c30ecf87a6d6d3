/** Rendering of run frames, and of the input in the composer. */
import { describe, expect, it } from "vitest";
import { Draft, messageOf, withMessage } from "../../studio/state/draft.js";
import { jsonFault } from "../../studio/state/json-fault.js";
import { RunView } from "../../studio/state/run-view.js";
import { anyText, anyValue, blankOf, shapeOf } from "../../studio/state/shape.js";

const NONE: ReadonlySet<string> = new Set();

function viewOf(...frames: [event: string, data: unknown][]): RunView {
  const view = new RunView({}, NONE);
  frames.forEach(([event, data], id) => view.take({ id, event, data }));
  return view;
}

const chunk = (content: unknown, more: object = {}): [string, unknown] => [
  "messages",
  [{ type: "ai", id: "m1", content, tool_call_chunks: [], ...more }, { langgraph_node: "model" }],
];
const contents = (view: RunView) => view.picture().entries.map(({ message }) => message.content);

describe("the view of a run", () => {
  it("joins chunks of text, of content blocks by index, and of tool call arguments", () => {
    expect(contents(viewOf(chunk("Hel"), chunk("lo")))).toEqual(["Hello"]);
    const blocks = viewOf(
      chunk([{ type: "thinking", thinking: "a", index: 0 }]),
      chunk([{ type: "thinking", thinking: "b", index: 0 }]),
      chunk([{ type: "text", text: "c", index: 1 }]),
      chunk([{ type: "text", text: "d", index: 1 }]),
    );
    expect(contents(blocks)).toEqual([
      [
        { type: "thinking", thinking: "ab", index: 0 },
        { type: "text", text: "cd", index: 1 },
      ],
    ]);
    const calls = (args: string, more: object = {}) =>
      chunk("", { tool_call_chunks: [{ index: 0, args, ...more }] });
    const half = viewOf(calls('{"city": "Par', { id: "c", name: "weather" }));
    expect(half.picture().entries[0]?.calls).toMatchObject([
      { id: "c", name: "weather", args: '{"city": "Par' },
    ]);
    half.take({ id: 9, event: "messages", data: calls('is"}', { id: null, name: null })[1] });
    expect(half.picture().entries[0]?.calls).toMatchObject([
      { id: "c", name: "weather", args: { city: "Paris" } },
    ]);
  });

  it("shows a message once if the state repeats a streamed message, and keeps messages missing from the state", () => {
    const view = viewOf(chunk("Hello"), [
      "values",
      { messages: [{ type: "ai", id: "m1", content: "Hello" }] },
    ]);
    expect(contents(view)).toEqual(["Hello"]);
    const inside = viewOf(chunk("secret thought"), [
      "values",
      { messages: [{ type: "ai", id: "m2", content: "Hi" }] },
    ]);
    inside.take({ id: 5, event: "end", data: { status: "success" } });
    expect(inside.picture().entries.map(({ id, within }) => [id, within])).toEqual([
      ["m2", undefined],
      ["m1", "model"],
    ]);
  });

  it("derives node states from checkpoints and updates, and call durations from the times of the run", () => {
    const checkpoint = (values: object, ...tasks: [id: string, name: string][]): [string, unknown] => [
      "checkpoints",
      { values, tasks: tasks.map(([id, name]) => ({ id, name })) },
    ];
    const view = viewOf(
      checkpoint({ n: 0 }, ["t1", "plan"], ["t2", "tools"]),
      ["updates", { plan: null }],
      ["tools|tools:t2", { event: "on_tool_start", toolCallId: "c1" }],
    );
    expect([...view.picture().nodes]).toEqual([
      ["plan", "done"],
      ["tools", "running"],
    ]);
    const calls = [{ id: "c1", name: "add", args: {} }];
    view.take({ id: 3, event: "tools|tools:t2", data: { event: "on_tool_end", toolCallId: "c1" } });
    const [event, data] = checkpoint(
      { messages: [{ type: "ai", id: "m", content: "", tool_calls: calls }] },
      ["t3", "ask"],
    );
    view.take({ id: 4, event, data });
    expect(view.picture().nodes.get("tools")).toBe("done");
    expect(view.picture().checkpoints).toBe(2);
    view.take({ id: 5, event: "updates", data: { __interrupt__: [{ value: "?" }] } });
    expect(view.picture().nodes.get("ask")).toBe("waits");
    const times = { started_at: "2026-01-01T00:00:00.000Z", ended_at: "2026-01-01T00:00:00.250Z" };
    const task = {
      kind: "tool",
      name: "add",
      tool_call_id: "c1",
      namespace: "tools:t2",
      step: null,
      state: "done",
      usage: null,
    } as const;
    view.takeTimes({ tasks: [{ ...task, ...times }], omitted: 0 });
    expect(view.picture().entries[0]?.calls[0]?.state).toEqual({ state: "done", ms: 250 });
  });

  it("discards at a new attempt what tasks that are retried have written", () => {
    const task = (name: string, more: object): [string, unknown] => ["tasks", { id: name, name, ...more }];
    const written = (id: string, node: string): [string, unknown] => [
      "messages",
      [{ type: "ai", id, content: id, tool_call_chunks: [] }, { langgraph_node: node }],
    ];
    const view = viewOf(
      ["metadata", { attempt: 1 }],
      ...[task("ended", { input: {} }), task("cut", { input: {} })],
      ...[written("kept", "ended"), written("lost", "cut"), task("ended", { error: null, interrupts: [] })],
      ["tools", { event: "on_tool_start", toolCallId: "c" }],
    );
    expect(contents(view)).toEqual(["kept", "lost"]);
    view.take({ id: 1e9, event: "metadata", data: { attempt: 2, checkpoint_id: "c1" } });
    expect(contents(view)).toEqual(["kept"]);
    view.take({ id: 1e9 + 1, event: "messages", data: written("again", "cut")[1] });
    expect(contents(view)).toEqual(["kept", "again"]);
  });

  it("shows no question when a run stops at a breakpoint", () => {
    const view = viewOf(
      ["checkpoints", { values: { n: 0 }, tasks: [{ id: "t1", name: "plan" }] }],
      ["updates", { __interrupt__: [] }],
      ["end", { status: "interrupted" }],
    );
    expect([...view.picture().nodes.values()]).not.toContain("waits");
  });

  it("returns the same entry object for unchanged messages", () => {
    const values = () => ({ messages: [{ type: "human", id: "h", content: "hi" }] });
    const view = viewOf(["values", values()]);
    const [before] = view.picture().entries;
    view.take({ id: 1, event: "values", data: values() });
    view.take({ id: 2, event: "messages", data: chunk("x")[1] });
    expect(view.picture().entries[0]).toBe(before);
  });

  it("supports runs that other clients stream in other modes", () => {
    const view = viewOf(
      ["metadata", {}],
      ["updates", { plan: { topic: "tea" } }],
      ["messages/partial", [{ type: "ai", id: "p", content: "par" }]],
      ["messages/complete", [{ type: "ai", id: "p", content: "partial" }]],
      ["error", { status: "timeout", message: "too long" }],
    );
    expect(contents(view)).toEqual(["partial"]);
    const { nodes, end } = view.picture();
    expect([...nodes]).toEqual([["plan", "done"]]);
    expect(end).toEqual({ status: "timeout", tokens: undefined, error: "too long" });
  });

  it("marks the node in which a run failed, unless several were running", () => {
    const nodesOf = (event: string, data: object, ...names: string[]) => {
      const tasks = names.map((name) => ({ id: `task ${name}`, name }));
      const view = viewOf(["checkpoints", { values: {}, tasks }], [event, data]);
      return [...view.picture().nodes];
    };
    const failed = { status: "error", message: "kaboom" };
    expect(nodesOf("error", failed, "bad")).toEqual([["bad", "failed"]]);
    expect(nodesOf("error", failed, "one", "other")).toEqual([]);
    expect(nodesOf("end", { status: "interrupted" }, "bad")).toEqual([]);
  });
});

describe("a draft", () => {
  it("edits parts of its value in place and removes undefined ones", () => {
    const draft = new Draft();
    draft.set({ a: 1, list: [1, 2, 3], b: { c: 1 } });
    draft.setAt(["a"], 2);
    draft.setAt(["list", 1], undefined);
    draft.setAt(["b", "d"], true);
    draft.setAt(["b", "c"], undefined);
    expect(draft.text.value).toBe(JSON.stringify({ a: 2, list: [1, 3], b: { d: true } }, null, 2));
    draft.write("{");
    expect([draft.fault.value, draft.isReady.value]).toEqual([{ line: 1, column: 2 }, false]);
    expect(draft.value.value).toEqual({ a: 2, list: [1, 3], b: { d: true } });
  });

  it("is editable as a message if it contains a single user message", () => {
    const hi = { text: "hi", files: [] };
    expect(messageOf(withMessage({ topic: 1 }, hi))).toEqual(hi);
    expect(withMessage({ topic: 1, messages: [] }, { text: "", files: [] })).toEqual({ topic: 1 });
    expect(messageOf({ messages: [{ role: "system", content: "x" }] })).toBeUndefined();
    expect(messageOf({ messages: [{ role: "user", content: [] }] })).toBeUndefined();
    const picture = { type: "image", mimeType: "image/png", data: "iVBO" };
    for (const text of ["", "look"]) {
      const said = { text, files: [picture] };
      expect(messageOf(withMessage({ topic: 1 }, said))).toEqual(said);
    }
    const far = { type: "image", url: "https://example.com/a.png" };
    expect(messageOf({ messages: [{ role: "user", content: [far] }] })).toBeUndefined();
  });

  it.each([
    ['{"a": 1,}', 1, 9],
    ["[1, 2\n 3]", 2, 2],
    ['{"a" 1}', 1, 6],
    ["[1, tru]", 1, 5],
    ['"open', 1, 1],
    ["", 1, 1],
    ["{} {}", 1, 4],
    ['["\n"]', 1, 2],
    ["[}", 1, 2],
  ])("reports the position of the syntax error in %j", (text, line, column) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(jsonFault(text)).toEqual({ line, column });
  });
});

describe("the shape of a form", () => {
  it("supports references, nullable fields, choices and lists, and falls back to JSON", () => {
    const schema = {
      type: "object",
      required: ["size"],
      properties: {
        size: { anyOf: [{ $ref: "#/$defs/Size" }, { type: "null" }] },
        tags: { type: "array", items: { type: "string" } },
        mode: { anyOf: [{ const: "a" }, { const: "b" }] },
        either: { anyOf: [{ type: "string" }, { type: "number" }] },
        self: { $ref: "#" },
      },
      $defs: { Size: { type: "integer", description: "How large" } },
    };
    const { fields = [] } = shapeOf(schema);
    const shapes = Object.fromEntries(fields.map(({ name, shape }) => [name, shape]));
    expect(shapes.size).toEqual({
      kind: "number",
      isNullable: true,
      isWhole: true,
      description: "How large",
    });
    expect(shapes.tags).toEqual({
      kind: "list",
      isNullable: false,
      item: { kind: "text", isNullable: false },
    });
    expect(shapes.mode).toEqual({ kind: "choice", isNullable: false, choices: ["a", "b"] });
    expect(shapes.either).toEqual({ kind: "any", isNullable: false });
    expect(shapes.self?.kind).toBe("object");
    expect(blankOf(shapeOf(schema))).toEqual({ size: 0 });
    expect(shapeOf({ $ref: "#/nowhere" }).kind).toBe("any");
  });

  it.each(["text", '"quoted"', "5", "", "{", "null"])("reads %j back as it was written", (text) => {
    expect(anyText(anyValue(text))).toBe(text === '"quoted"' ? "quoted" : text);
    expect(anyValue(anyText(text))).toBe(text);
  });
});
