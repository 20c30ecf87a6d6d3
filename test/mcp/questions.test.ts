/** The forms by which clients ask what a graph wants to know. */
import { expect, it } from "vitest";
import { formOf } from "../../src/mcp/questions.js";

const call = (name: string) => ({ name, args: { city: "Rome" } });

it("anything is asked as a text, and what reads as JSON is JSON", () => {
  const form = formOf({ question: "Go on?" });
  expect(form.message).toBe('{\n  "question": "Go on?"\n}');
  expect(formOf("Go on?").message).toBe("Go on?");
  expect(["yes", "true", '{"a":1}', ""].map((answer) => form.answerOf({ answer }))).toEqual([
    "yes",
    true,
    { a: 1 },
    "",
  ]);
});

it("calls that wait for approval are a choice each", () => {
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
  ["no call", []],
  ["what is no call", [call("book"), 7]],
])("an approval of %s is asked as a text", (_what, action_requests) => {
  expect(formOf({ action_requests }).requestedSchema.required).toEqual(["answer"]);
});

it("an approval that only takes other arguments is asked as a text", () => {
  const review_configs = [{ action_name: "book", allowed_decisions: ["edit"] }];
  const form = formOf({ action_requests: [call("book")], review_configs });
  expect(form.requestedSchema.required).toEqual(["answer"]);
});
