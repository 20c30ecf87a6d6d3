/** Values of a stored checkpoint that a graph cannot read, because its state has changed since. */
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { ValidateFunction } from "ajv";
import { isStateChannel } from "../../models/channels.js";
import { isRecord, type JsonObject } from "../../models/common.js";
import { pathText, pointerKeys, withoutBranches } from "../../support/schema/schema-errors.js";
import { toWire } from "../serialize.js";
import type { ServedGraph } from "../graph.js";
import { graphSchemas } from "../schemas.js";

/** A state key that the graph no longer has, or a value that its schema rejects. */
export interface LostValue {
  /** Path of the value, such as `cart.items[0].price`. */
  path: string;
  /** `key`: the graph has no such key. `schema`: the schema rejects the value. */
  missing: "key" | "schema";
  message: string;
}

/** Errors reported for each checkpoint. */
const MOST_ERRORS = 5;

/** Compares checkpoints with the state of one graph. */
export class StateCheck {
  readonly #keys: readonly string[] | undefined;
  readonly #validate: ValidateFunction | undefined;

  private constructor(keys: readonly string[] | undefined, validate: ValidateFunction | undefined) {
    this.#keys = keys;
    this.#validate = validate;
  }

  static async of(graph: ServedGraph): Promise<StateCheck> {
    const { state_schema } = await graphSchemas(graph, "");
    // Types that are derived from default values are guesses: such a key may also hold null.
    const isDeclared = isRecord(state_schema) && state_schema["x-source"] !== "channels";
    const keys = graph.channels && Object.keys(graph.channels).filter(isStateChannel);
    return new StateCheck(keys, isDeclared ? await validatorOf(state_schema) : undefined);
  }

  /** The lost values of a checkpoint; at most a few errors of the schema. */
  lostIn({ checkpoint }: CheckpointTuple): LostValue[] {
    const keys = this.#keys;
    // A functional workflow has no state keys.
    if (!keys || keys.length === 0) return [];
    const { channel_values, versions_seen } = checkpoint;
    const stored = Object.keys(channel_values).filter(isStateChannel);
    const gone = stored
      // Early releases of LangGraph stored a channel for each node.
      .filter((key) => !keys.includes(key) && !Object.hasOwn(versions_seen, key))
      .map((key): LostValue => ({ path: key, missing: "key", message: `has the keys ${keys.join(", ")}` }));
    const known = Object.fromEntries(
      stored.filter((key) => keys.includes(key)).map((key) => [key, channel_values[key]]),
    );
    return [...gone, ...this.#rejected(toWire(known))];
  }

  #rejected(values: unknown): LostValue[] {
    if (!this.#validate || this.#validate(values)) return [];
    return withoutBranches(this.#validate.errors ?? [])
      .slice(0, MOST_ERRORS)
      .map(({ instancePath, message = "is invalid" }) => ({
        path: pathText(pointerKeys(instancePath)),
        missing: "schema",
        message,
      }));
  }
}

/** Undefined for a schema that does not compile, such as one of a vocabulary that is not JSON schema. */
async function validatorOf(schema: JsonObject): Promise<ValidateFunction | undefined> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  // A state has only the keys that were written. Drafts are named by URLs that ajv does not have.
  const { $schema: _1, required: _2, ...partial } = schema;
  try {
    return ajv.compile(partial);
  } catch {
    return undefined;
  }
}
