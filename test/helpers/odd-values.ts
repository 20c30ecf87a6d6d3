/** Values that are hard to serialize, created fresh by each `make` call, with a name for test reports. */
import fc from "fast-check";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";

export interface Odd {
  name: string;
  make: () => unknown;
}

const odd = (name: string, make: () => unknown): Odd => ({ name, make });

/** Nests an object `levels` deep. */
export function nested(levels: number, around: (inner: unknown) => unknown = (a) => ({ a })): unknown {
  let value: unknown = "bottom";
  for (let level = 0; level < levels; level++) value = around(value);
  return value;
}

export function revoked(target: object = {}): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

const fail = (): never => {
  throw new Error("it does not want to be looked at");
};
const throwing = new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail });
/** toJSON returns a new object with the same toJSON, without end. */
export const renewing = (): object => ({ toJSON: renewing });
/** An object with infinitely nested keys. */
const bottomless = (): object =>
  new Proxy(
    {},
    {
      get: (_, key) => (typeof key === "symbol" || key === "toJSON" ? undefined : bottomless()),
      ownKeys: () => ["a"],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
    },
  );
const cycle = (freeze: boolean): unknown => {
  const inner: Record<string, unknown> = {};
  const outer = { inner };
  inner.outer = outer;
  return freeze ? Object.freeze(Object.assign(outer, { inner: Object.freeze(inner) })) : outer;
};
class Account {
  readonly #secret = 1;
  owner = "ann";
  balance(): number {
    return this.#secret;
  }
}
class OwnMessage extends HumanMessage {
  static override lc_name(): string {
    return "OwnMessage";
  }
}
const changed = <T extends object>(target: T, changes: object): T => Object.assign(target, changes);
const constructorOf = (id: string[], kwargs: object = {}) => ({ lc: 1, type: "constructor", id, kwargs });

const PLAIN: Odd[] = [
  odd("null", () => null),
  odd("undefined", () => undefined),
  odd("-0", () => -0),
  odd("NaN", () => NaN),
  odd("Infinity", () => Infinity),
  odd("a lone surrogate", () => "a\ud800b"),
  odd("NUL", () => "a\0b"),
  odd("a huge string", () => "ä".repeat(300_000)),
  odd(
    "a placeholder of LangGraph",
    () => "[unable to serialize, circular reference is too complex to analyze]",
  ),
  odd("__proto__", () => JSON.parse('{"__proto__": {"toJSON": 1}, "constructor": null}') as unknown),
  odd("a Date", () => new Date(0)),
  odd("no Date", () => new Date(NaN)),
  odd("a RegExp", () => /a/g),
  odd("a URL", () => new URL("http://example.com")),
  odd("an Error", () => new Error("kept", { cause: 1n })),
  odd("bytes", () => new Uint8Array([1, 2])),
  odd("floats", () => new Float64Array([NaN, -0])),
  odd("a buffer", () => new ArrayBuffer(2)),
  odd("a class instance", () => new Account()),
  odd("an object without a prototype", () => Object.assign(Object.create(null) as object, { a: 1 })),
  odd("a message", () => new AIMessage("hello")),
  odd("boxed", () => Object(1n) as unknown),
  odd("a WeakMap", () => new WeakMap()),
  odd("a promise", () => Promise.resolve(1)),
  odd("a thenable", () => ({ then: (resolve: (value: unknown) => void) => resolve(1) })),
  odd("a thenable that throws", () => ({ then: fail })),
];

const BAD: Odd[] = [
  odd("a BigInt", () => 1n),
  odd("a function", () => () => 1),
  odd("a class", () => Account),
  odd("a symbol", () => Symbol("odd")),
  odd("a toJSON that throws", () => ({ toJSON: fail })),
  odd("a toJSON that returns a new copy of itself", renewing),
  odd("a toJSON that returns itself", () => ({
    a: 1,
    toJSON(): unknown {
      return this;
    },
  })),
  odd("a toJSON that returns a BigInt", () => ({ toJSON: () => 1n })),
  odd("a toJSON that returns a function", () => ({ toJSON: () => () => 1 })),
  odd("a toJSON that returns undefined", () => ({ toJSON: () => undefined })),
  odd("a toJSON that throws the second time", () => {
    let calls = 0;
    return { toJSON: () => (calls++ === 0 ? { a: 1 } : fail()) };
  }),
  odd("a toJSON that is not a function", () => ({ toJSON: 5 })),
  odd(
    "a toDict that throws",
    () =>
      new (class {
        toDict = fail;
      })(),
  ),
  odd(
    "a toDict that returns undefined",
    () =>
      new (class {
        toDict = () => undefined;
      })(),
  ),
  odd("a getter that throws", () => ({
    get a() {
      return fail();
    },
  })),
  odd("a non-configurable getter that throws", () =>
    Object.defineProperty({}, "a", { get: fail, enumerable: true }),
  ),
  odd("a revoked proxy", () => revoked()),
  odd("a revoked array proxy", () => revoked([])),
  odd("a proxy that throws", () => throwing),
  odd("an infinitely deep object", bottomless),
  odd("a cycle", () => cycle(false)),
  odd("a frozen cycle", () => cycle(true)),
  odd("a Map that contains itself", () => {
    const map = new Map<string, unknown>();
    return map.set("map", map);
  }),
  odd(
    "a Map with non-string keys",
    () =>
      new Map<unknown, unknown>([
        [{}, 1],
        [Symbol("key"), 2],
        [null, 3],
      ]),
  ),
  odd("an Error with a symbol message", () => changed(new Error(), { message: Symbol("message") })),
  odd("a constructor record of an unknown class", () => constructorOf(["child_process", "exec"])),
  odd("a message record with invalid content", () =>
    constructorOf(["langchain_core", "messages", "HumanMessage"], { content: 5 }),
  ),
  odd("a message without kwargs", () => ({
    lc: 1,
    type: "constructor",
    id: ["langchain_core", "messages", "AIMessage"],
  })),
  odd("a secret", () => ({ lc: 1, type: "secret", id: ["KEY"] })),
  odd("not implemented", () => ({ lc: 1, type: "not_implemented", id: ["x"] })),
  odd("a malformed constructor record", () => ({
    lc: 2,
    type: "constructor",
    id: ["RegExp"],
    args: ["(", ""],
  })),
  odd("an escaped object", () => ({ __lc_escaped__: { lc: 1 } })),
  odd("a custom message class", () => new OwnMessage("hello")),
  odd(
    "a message that contains a constructor record",
    () => new HumanMessage({ content: "x", additional_kwargs: { a: constructorOf(["x", "Y"]) } }),
  ),
  odd("a message without metadata", () => changed(new AIMessage("x"), { response_metadata: null })),
  odd("a chunk without chunks", () => changed(new AIMessageChunk("x"), { tool_call_chunks: {} })),
  odd("a message with BigInt content", () =>
    changed(new ToolMessage({ content: "x", tool_call_id: "1" }), { content: 1n }),
  ),
];

const deep: fc.Arbitrary<Odd> = fc
  .tuple(
    fc.oneof(fc.integer({ min: 300, max: 700 }), fc.integer({ min: 700, max: 8000 })),
    fc.constantFrom("objects", "lists", "Maps"),
  )
  .map(([levels, kind]) =>
    odd(`${levels} nested ${kind}`, () =>
      nested(levels, (a) => (kind === "objects" ? { a } : kind === "lists" ? [a] : new Map([["a", a]]))),
    ),
  );

const AROUND: [name: string, around: (inner: unknown) => unknown][] = [
  ["in an object", (value) => ({ inner: value })],
  ["in an array", (value) => [1, value]],
  ["in a Map", (value) => new Map([["inner", value]])],
  ["in a Set", (value) => new Set([value])],
  ["in a frozen object", (value) => Object.freeze({ inner: value })],
  ["twice", (value) => [value, value]],
  [
    "behind a getter",
    (value) => ({
      get inner() {
        return value;
      },
    }),
  ],
  ["behind a proxy", (value) => new Proxy({ inner: value }, {})],
  ["from a toJSON", (value) => ({ toJSON: () => value })],
  ["in a message", (value) => new AIMessage({ content: "x", additional_kwargs: { inner: value } })],
  [
    "behind __proto__",
    (value) =>
      JSON.parse('{"__proto__": 1}', (_, inner: unknown) => (inner === 1 ? value : inner)) as unknown,
  ],
];

/** An odd value, optionally inside up to two containers. */
export const oddValues: fc.Arbitrary<Odd> = fc
  .tuple(
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...PLAIN) },
      { weight: 5, arbitrary: fc.constantFrom(...BAD) },
      deep,
    ),
    fc.array(fc.constantFrom(...AROUND), { maxLength: 2 }),
  )
  .map(([core, layers]) =>
    layers.reduce<Odd>(
      ({ name, make }, [where, around]) => odd(`${name} ${where}`, () => around(make())),
      core,
    ),
  );

/** Values to throw, in addition to all odd values. */
const THROWN: Odd[] = [
  odd("a message that is a symbol", () => ({ message: Symbol("message") })),
  odd("a message that is a BigInt", () => ({ message: 1n })),
  odd("a toString that throws", () => ({ toString: fail })),
  odd("an object without a prototype", () => Object.create(null) as unknown),
  odd("an infinite chain of causes", () => endless()),
  odd("a circular chain of causes", () => {
    const [one, two] = [new Error("one"), new Error("two")];
    one.cause = two;
    two.cause = one;
    return one;
  }),
  odd("a message that throws", () => Object.defineProperty(new Error(), "message", { get: fail })),
  odd("a name that throws", () => Object.defineProperty(new Error("x"), "name", { get: fail })),
  odd("a name that is an object", () => changed(new Error("x"), { name: {} })),
  odd("a stack that throws", () => Object.defineProperty(new Error("x"), "stack", { get: fail })),
  odd("a cause that throws", () => Object.defineProperty(new Error("x"), "cause", { get: fail })),
  odd("a code that throws", () =>
    Object.defineProperty(new Error("x"), "code", { get: fail, enumerable: true }),
  ),
  odd("a frozen error", () => Object.freeze(new Error("frozen"))),
  odd("a huge message", () => new Error("x".repeat(3_000_000))),
  odd("NUL and a lone surrogate in the message", () => new Error("a\0b\ud800")),
  odd("several errors", () => new AggregateError([endless(), 1n, fail], "several")),
  odd("a value that looks like an interrupt", () => ({ name: "GraphInterrupt" })),
  odd("a value that looks like a command", () => ({ name: "ParentCommand" })),
  odd("a value that looks like a bubble-up error", () => ({ is_bubble_up: true })),
  odd("an empty string", () => ""),
];

function endless(): Error {
  return Object.defineProperty(new Error("endless"), "cause", { get: endless });
}

export const thrownValues: fc.Arbitrary<Odd> = fc.oneof(fc.constantFrom(...THROWN), oddValues);
