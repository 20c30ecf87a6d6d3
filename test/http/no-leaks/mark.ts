/** Marks: what must not leave the server carries one, each with the name of the place that it was put in. */
import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import { FakeModel } from "../../fixtures/fake-model.js";
import { gateOf } from "../../fixtures/gates.js";

/** Stands in what every client may see. */
export const FINE = "FINE";

/** A text that no client may see. */
export const leak = (place: string): string => `LEAK.${place}`;

/** Every mark in a text, once; also in a text that holds JSON. */
export const leaksIn = (text: string): string[] => [...new Set(text.match(/LEAK\.[\w.-]+/g) ?? [])];

/** A model that says a mark, token by token. */
export const leakyModel = (place: string): FakeModel => new FakeModel(() => `well, ${leak(place)} it is`);

/** Waits at the gate that the run's `configurable` names, if any, then asks; gives the answer. */
export async function pauseAndAsk({ configurable, signal }: LangGraphRunnableConfig): Promise<string> {
  const { gate } = (configurable ?? {}) as { gate?: string };
  if (gate !== undefined) await gateOf(gate).wait(signal, false);
  return String(interrupt({ question: `${FINE}?` }));
}
