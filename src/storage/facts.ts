/**
 * Facts: what a metadata filter can be looked up by. A top-level metadata entry with a scalar value is one fact, its
 * text `["key",value]` as JSON, so that no key or value needs escaping.
 */
import type { JsonObject } from "../models/common.js";

/** Longer facts are not indexed: they are texts to keep, not labels to look for. */
const LONGEST_FACT = 512;

/** The facts that a thread's metadata states. */
export function factsOf(metadata: JsonObject): string[] {
  return Object.entries(metadata).flatMap(([key, value]) => factOf(key, value) ?? []);
}

/** A filter as the facts to look up, and the rest of it, to be tested by `contains()`; undefined when there is none. */
export function splitFilter(filter: JsonObject): { facts: string[]; rest: JsonObject | undefined } {
  const facts: string[] = [];
  const rest: [string, unknown][] = [];
  for (const [key, value] of Object.entries(filter)) {
    const fact = factOf(key, value);
    if (fact === undefined) rest.push([key, value]);
    else facts.push(fact);
  }
  return { facts, rest: rest.length > 0 ? Object.fromEntries(rest) : undefined };
}

function factOf(key: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === "object" && value !== null)) return undefined;
  const fact = JSON.stringify([key, value]);
  return fact.length <= LONGEST_FACT ? fact : undefined;
}
