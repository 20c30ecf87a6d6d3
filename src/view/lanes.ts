/** Draws branches beside a list of checkpoints, newest first, as `git log --graph` does. */

export interface Node {
  id: string;
  parent: string | undefined;
}

interface Drawn {
  /** Lines that stand before the checkpoint: where branches meet in it. */
  before: string[];
  /** The line of the checkpoint itself. */
  own: string;
  /** Beside what else is said of it. */
  after: string;
}

/** One lane a branch; each waits for the checkpoint that its last one came from. */
export class Lanes {
  readonly #awaited: (string | undefined)[] = [];

  /** The lanes at the next checkpoint. Call it in the order of the list. */
  draw({ id, parent }: Node): Drawn {
    const lanes = this.#awaited;
    const waiting = indexesOf(lanes, id);
    const before = waiting.length > 1 ? [meeting(lanes, waiting)] : [];
    const lane = waiting[0] ?? freeLane(lanes);
    for (const other of waiting.slice(1)) lanes[other] = undefined;
    lanes[lane] = id;
    trim(lanes);
    const own = lanes.map((awaited, index) => (index === lane ? "*" : awaited === undefined ? " " : "│"));
    lanes[lane] = parent;
    trim(lanes);
    const after = lanes.map((awaited) => (awaited === undefined ? " " : "│"));
    return { before, own: own.join(" "), after: after.join(" ").padEnd(own.length * 2 - 1) };
  }
}

function indexesOf(lanes: readonly (string | undefined)[], id: string): number[] {
  return lanes.flatMap((awaited, index) => (awaited === id ? [index] : []));
}

function freeLane(lanes: readonly (string | undefined)[]): number {
  const free = lanes.indexOf(undefined);
  return free === -1 ? lanes.length : free;
}

function trim(lanes: (string | undefined)[]): void {
  while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
}

/** Lanes that end here bend to the first one: `├─╯`, with `┼` where they cross another, `┴` where more come. */
function meeting(lanes: readonly (string | undefined)[], waiting: readonly number[]): string {
  const [first = 0] = waiting;
  const last = waiting.at(-1) ?? first;
  return lanes
    .map((awaited, index) => {
      const runs = index < last && index >= first ? "─" : " ";
      if (index === first) return `├${runs}`;
      if (index === last) return "╯ ";
      if (waiting.includes(index)) return `┴${runs}`;
      const crossed = awaited === undefined ? "─" : "┼";
      if (index > first && index < last) return `${crossed}${runs}`;
      return awaited === undefined ? "  " : "│ ";
    })
    .join("")
    .trimEnd();
}
