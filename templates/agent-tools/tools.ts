import { tool, type ToolRuntime } from "langchain";
import { z } from "zod";

const OPERATIONS = {
  "+": (left: number, right: number) => left + right,
  "-": (left: number, right: number) => left - right,
  "*": (left: number, right: number) => left * right,
  "/": (left: number, right: number) => left / right,
};

/** Sends the progress of a tool to clients that stream the run with mode `custom`. */
function report(runtime: ToolRuntime, step: string): void {
  runtime.writer?.({ tool: runtime.toolCall?.name, step });
}

export const calculator = tool(
  ({ left, operator, right }, runtime: ToolRuntime) => {
    report(runtime, `calculating ${left} ${operator} ${right}`);
    if (operator === "/" && right === 0) return `${left} / 0 has no result`;
    return `${left} ${operator} ${right} = ${OPERATIONS[operator](left, right)}`;
  },
  {
    name: "calculator",
    description: "Add, subtract, multiply or divide two numbers.",
    schema: z.object({ left: z.number(), operator: z.enum(["+", "-", "*", "/"]), right: z.number() }),
  },
);

export const countWords = tool(
  ({ text }, runtime: ToolRuntime) => {
    report(runtime, `reading ${text.length} characters`);
    const count = text.split(/\s+/).filter(Boolean).length;
    return `"${text}" has ${count} ${count === 1 ? "word" : "words"}`;
  },
  {
    name: "count_words",
    description: "Count the words in a text.",
    schema: z.object({ text: z.string() }),
  },
);
