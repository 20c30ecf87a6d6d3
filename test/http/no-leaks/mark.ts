/** Marks for hidden values. Each mark names the place where it was written, so that a leak shows its source. */
import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
// The command line loads these files hundreds of times: jiti finds a .ts file by its own name 40 times as fast as by .js.
import { FakeModel } from "../../fixtures/fake-model.ts";
import { gateOf } from "../../fixtures/gates.ts";

/** Value that clients may see. */
export const FINE = "FINE";

/** Value that no client may see. */
export const leak = (place: string): string => `LEAK.${place}`;

/** All distinct marks in a string, including inside embedded JSON. */
export const leaksIn = (text: string): string[] => [...new Set(text.match(/LEAK\.[\w.-]+/g) ?? [])];

/** A model that emits a mark, token by token. */
export const leakyModel = (place: string): FakeModel => new FakeModel(() => `well, ${leak(place)} it is`);

/** Waits at the gate named in the run's `configurable`, if any, then interrupts. Returns the answer. */
export async function pauseAndAsk({ configurable, signal }: LangGraphRunnableConfig): Promise<string> {
  const { gate } = (configurable ?? {}) as { gate?: string };
  if (gate !== undefined) await gateOf(gate).wait(signal, false);
  return String(interrupt({ question: `${FINE}?` }));
}
