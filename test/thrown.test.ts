/** Every thrown value has a name and a message, and can be logged. */
import fc from "fast-check";
import { pino } from "pino";
import { expect, it } from "vitest";
import { causesOf, errorMessage, errorName } from "../src/support/errors/thrown.js";
import { safeLogger } from "../src/support/log.js";
import { isTransient } from "../src/runs/network-retry.js";
import { thrownValues } from "./helpers/odd-values.js";
import { recordingLogger } from "./helpers/service.js";

const fail = (): never => {
  throw new Error("no");
};

it("every thrown value yields a name and a message of limited length", () => {
  fc.assert(
    fc.property(thrownValues, ({ make }) => {
      const thrown = make();
      expect(errorMessage(thrown)).toMatch(/\S/);
      expect(errorMessage(thrown).length).toBeLessThan(10_100);
      expect(errorName(thrown)).toMatch(/\S/);
      expect(causesOf(thrown).length).toBeLessThanOrEqual(10);
      expect(isTransient(thrown)).toBe(false);
    }),
    { numRuns: 500 },
  );
});

it.each([
  ["an error", new RangeError("too much"), "RangeError", "too much"],
  ["an error without a message", new RangeError(), "RangeError", "RangeError"],
  ["a string", "boom", "Error", "boom"],
  ["a symbol", Symbol("boom"), "Error", "Symbol(boom)"],
  ["nothing", undefined, "Error", "undefined"],
  ["an object with a message", { message: "boom", secret: 1 }, "Error", "boom"],
  ["a message that is a symbol", { message: Symbol("boom") }, "Error", "Symbol(boom)"],
  ["an object", { secret: 1 }, "Error", "an object without a message was thrown, with the keys secret"],
  ["an object with its own toString", { toString: () => "boom" }, "Error", "boom"],
  [
    "an object without a prototype",
    Object.create(null),
    "Error",
    "an object without a message was thrown, with no keys",
  ],
  ["a function", fail, "Error", "a function was thrown"],
  ["a huge message", new Error("x".repeat(10_003)), "Error", `${"x".repeat(10_000)}... (3 more characters)`],
])("%s yields a name and a message", (_, thrown: unknown, name, message) => {
  expect(errorName(thrown)).toBe(name);
  expect(errorMessage(thrown)).toBe(message);
});

it("a network error is found in a cause chain of any length", () => {
  const network = Object.assign(new Error("x"), { code: "ECONNRESET" });
  expect(isTransient(new Error("outer", { cause: new Error("inner", { cause: network }) }))).toBe(true);
  const [one, two] = [new Error("one"), new Error("two")];
  one.cause = two;
  two.cause = one;
  expect(isTransient(one)).toBe(false);
  expect(causesOf(one)).toEqual([one, two]);
});

it("every thrown value is logged, by its message if the value is too large for a log", () => {
  const lines: string[] = [];
  const logger = safeLogger(pino({}, { write: (line) => void lines.push(line) }));
  fc.assert(
    fc.property(thrownValues, ({ make }) => {
      lines.length = 0;
      logger.warn({ err: make(), run_id: "1" }, "it failed");
      expect(lines).toHaveLength(1);
      expect(lines[0]?.length).toBeLessThan(100_000);
      expect(JSON.parse(lines[0] ?? "")).toMatchObject({ msg: "it failed", run_id: "1" });
    }),
    { numRuns: 300 },
  );
});

it("an ordinary error is logged unchanged, with its causes", () => {
  const logger = recordingLogger();
  const err = new Error("outer", { cause: new Error("inner") });
  safeLogger(logger).error({ err }, "it failed");
  expect(logger.lines).toEqual([{ level: "error", message: "it failed", fields: { err } }]);
  expect((logger.lines[0]?.fields as { err: unknown }).err).toBe(err);
});

it("a logger that throws does not affect its caller", () => {
  const logger = safeLogger({ debug: fail, info: fail, warn: fail, error: fail });
  expect(() => logger.warn({ err: new Error("x") }, "it failed")).not.toThrow();
});
