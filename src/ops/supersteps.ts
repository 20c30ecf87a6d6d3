import { coerceCommand, coerceValues } from "../graphs/coerce.js";
import type { Superstep } from "../models/thread.js";

/**
 * The updates that seed a thread, as a graph takes them.
 * @throws InvalidRequestError naming the update that cannot be read (`invalid_request`)
 */
export function coerceSupersteps(supersteps: readonly Superstep[]) {
  return supersteps.map(({ updates }, step) => ({
    updates: updates.map(({ values, command, as_node }, index) => {
      const loc = ["body", "supersteps", step, "updates", index];
      const written = command
        ? coerceCommand(command, [...loc, "command"])
        : coerceValues(values, [...loc, "values"]);
      return { values: written, ...(as_node != null && { asNode: as_node }) };
    }),
  }));
}
