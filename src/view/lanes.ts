/** Places branches beside a list of checkpoints, newest first, as `git log --graph` does. */

export interface Node {
  id: string;
  parent: string | undefined;
}

/** A checkpoint and the lines around it; a line is named by the checkpoint that it comes from. */
export interface PlacedNode {
  /** Lane of the checkpoint itself, from 0 at the left. */
  lane: number;
  /** Lines that come from above, by lane. */
  above: readonly (string | undefined)[];
  /** Lanes whose lines end in the checkpoint, ascending: branches that meet in it where there are several. */
  meeting: readonly number[];
  /** Lines that continue below, by lane. */
  below: readonly (string | undefined)[];
}

interface Drawn {
  /** Lines that stand before the checkpoint: where branches meet in it. */
  before: string[];
  /** The line of the checkpoint itself. */
  own: string;
  /** Beside what else is said of it. */
  after: string;
}

interface Line {
  from: string;
  to: string;
}
type LineAt = Line | undefined;

/** One lane a branch; each waits for the checkpoint that its last one came from. */
export class Lanes {
  readonly #lines: LineAt[] = [];

  /** The lanes at the next checkpoint. Call it in the order of the list. */
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

  /** The same in characters. */
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

/** Lanes that end here bend to the first one: `├─╯`, with `┼` where they cross another, `┴` where more come. */
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
