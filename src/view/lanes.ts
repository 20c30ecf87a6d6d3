/** Assigns lanes to branches in a list of checkpoints, newest first, as `git log --graph` does. */

export interface Node {
  id: string;
  parent: string | undefined;
}

/** A checkpoint and the lines around it; the id of a line is the checkpoint at its upper end. */
export interface PlacedNode {
  /** Lane of the checkpoint, 0 is leftmost. */
  lane: number;
  /** Lines from above, by lane. */
  above: readonly (string | undefined)[];
  /** Lanes of the lines that end at the checkpoint, ascending. Several lanes mean that branches meet. */
  meeting: readonly number[];
  /** Lines that continue below, by lane. */
  below: readonly (string | undefined)[];
}

interface Drawn {
  /** Extra lines above the checkpoint, if branches meet there. */
  before: string[];
  own: string;
  /** Prefix of further lines about the checkpoint. */
  after: string;
}

interface Line {
  from: string;
  to: string;
}
type LineAt = Line | undefined;

/** Each branch has a lane, which waits for the parent of its last checkpoint. */
export class Lanes {
  readonly #lines: LineAt[] = [];

  /** Place the next checkpoint. Call it in list order. */
  place({ id, parent }: Node): PlacedNode {
    const lines = this.#lines;
    const above = lines.map((line) => line?.from);
    const meeting = lines.flatMap((line, index) => (line?.to === id ? [index] : []));
    const lane = meeting[0] ?? freeLane(lines);
    for (const other of meeting.slice(1)) lines[other] = undefined;
    lines[lane] = parent === undefined ? undefined : { from: id, to: parent };
    trim(lines);
    return { lane, above, meeting, below: lines.map((line) => line?.from) };
  }

  /** Like `place`, as text. */
  draw(node: Node): Drawn {
    const { lane, above, meeting, below } = this.place(node);
    const before = meeting.length > 1 ? [meetingLine(above, meeting)] : [];
    const beside = above.map((line, index) => (meeting.includes(index) ? undefined : line));
    while (beside.length > lane + 1 && beside.at(-1) === undefined) beside.pop();
    const own = Array.from({ length: Math.max(lane + 1, beside.length) }, (_, index) =>
      index === lane ? "*" : beside[index] === undefined ? " " : "│",
    );
    const after = below.map((line) => (line === undefined ? " " : "│"));
    return { before, own: own.join(" "), after: after.join(" ").padEnd(own.length * 2 - 1) };
  }
}

function freeLane(lines: readonly LineAt[]): number {
  const free = lines.indexOf(undefined);
  return free === -1 ? lines.length : free;
}

function trim(lines: LineAt[]): void {
  while (lines.length > 0 && lines.at(-1) === undefined) lines.pop();
}

/**
 * Lanes that end here bend to the first one: `├─╯`, with `┼` for a crossing and `┴` for a further ending
 * lane.
 */
function meetingLine(lines: readonly (string | undefined)[], meeting: readonly number[]): string {
  const [first = 0] = meeting;
  const last = meeting.at(-1) ?? first;
  return lines
    .map((line, index) => {
      const runs = index < last && index >= first ? "─" : " ";
      if (index === first) return `├${runs}`;
      if (index === last) return "╯ ";
      if (meeting.includes(index)) return `┴${runs}`;
      const crossed = line === undefined ? "─" : "┼";
      if (index > first && index < last) return `${crossed}${runs}`;
      return line === undefined ? "  " : "│ ";
    })
    .join("")
    .trimEnd();
}
