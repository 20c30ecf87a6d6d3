/** Expectations on the events of a stream. */
import type { Bounds, Expectation } from "./case-model.js";
import { boundsText, within } from "./matcher.js";
import { baseName, type Observation } from "./observation.js";
import { unmet, type Unmet } from "./unmet.js";

type StreamExpectation = NonNullable<Expectation["stream"]>;

export function streamFailures({ modes, order, count }: StreamExpectation, run: Observation): Unmet[] {
  const { counts } = run;
  const seen = Object.keys(counts);
  const missing = (modes ?? []).filter((mode) => !seen.includes(mode));
  return [
    ...(missing.length > 0
      ? [unmet(["stream", "modes"], `no event ${missing.join(", ")} came`, { expected: modes, actual: seen })]
      : []),
    ...(order ? orderFailures(order, run) : []),
    ...Object.entries(count ?? {}).flatMap(([name, wanted]) =>
      countFailures(name, wanted, counts[name] ?? 0),
    ),
  ];
}

/** The events must come in this order; others may come between them. */
function orderFailures(order: readonly string[], { events }: Observation): Unmet[] {
  const names = events.map(({ event }) => baseName(event));
  let from = 0;
  for (const [index, wanted] of order.entries()) {
    const found = names.indexOf(wanted, from);
    if (found < 0) {
      const after = index === 0 ? "" : ` after ${order[index - 1]}`;
      return [
        unmet(["stream", "order"], `no ${wanted} came${after}`, { expected: order, actual: squeezed(names) }),
      ];
    }
    from = found + 1;
  }
  return [];
}

/** Events of the same name in a row are shown once. */
const squeezed = (names: readonly string[]): string[] =>
  names.filter((name, index) => name !== names[index - 1]);

function countFailures(name: string, wanted: number | Bounds, actual: number): Unmet[] {
  const bounds = typeof wanted === "number" ? { min: wanted, max: wanted } : wanted;
  if (within(actual, bounds)) return [];
  const text = typeof wanted === "number" ? String(wanted) : boundsText(wanted);
  return [
    unmet(["stream", "count", name], `${actual} events ${name}, expected ${text}`, {
      expected: wanted,
      actual,
    }),
  ];
}
