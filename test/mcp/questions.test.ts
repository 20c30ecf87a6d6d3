/** The elicitation forms that MCP clients show for an interrupt. */
import { expect, it } from "vitest";
import { formOf } from "../../src/mcp/questions.js";

const call = (name: string) => ({ name, args: { city: "Rome" } });

it("an arbitrary interrupt asks for text, and a JSON answer is parsed", () => {
  const form = formOf({ question: "Continue?" });
  expect(form.message).toBe('{\n  "question": "Continue?"\n}');
  expect(formOf("Continue?").message).toBe("Continue?");
  expect(["yes", "true", '{"a":1}', ""].map((answer) => form.answerOf({ answer }))).toEqual([
    "yes",
    true,
    { a: 1 },
    "",
  ]);
});

it("each tool call to approve is shown as a choice", () => {
  const form = formOf({
    action_requests: [call("book"), { ...call("pay"), description: "Pay 3 EUR?" }],
    review_configs: [{ action_name: "pay", allowed_decisions: ["approve", "edit"] }],
  });
  expect(form.message).toBe('book {\n  "city": "Rome"\n}\n\nPay 3 EUR?');
  expect(form.requestedSchema).toMatchObject({
    properties: {
      decision_1: { title: "book", enum: ["approve", "reject"] },
      decision_2: { title: "pay", enum: ["approve"] },
    },
    required: ["decision_1", "decision_2"],
  });
  const content = { decision_1: "reject", reason_1: "not there", decision_2: "approve", reason_2: "" };
  expect(form.answerOf(content)).toEqual({
    decisions: [{ type: "reject", message: "not there" }, { type: "approve" }],
  });
});

it.each([
  ["no tool calls", []],
  ["an invalid tool call", [call("book"), 7]],
])("an approval with %s falls back to a text field", (_what, action_requests) => {
  expect(formOf({ action_requests }).requestedSchema.required).toEqual(["answer"]);
});

it("an approval that only allows edits falls back to a text field", () => {
  const review_configs = [{ action_name: "book", allowed_decisions: ["edit"] }];
  const form = formOf({ action_requests: [call("book")], review_configs });
  expect(form.requestedSchema.required).toEqual(["answer"]);
});
