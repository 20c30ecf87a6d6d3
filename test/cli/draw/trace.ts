/** Parses a drawing: finds its boxes and where their outgoing lines end. */
const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8] as const;
const SIDES: Record<string, number> = {
  "┘": UP | LEFT,
  "┐": DOWN | LEFT,
  "└": UP | RIGHT,
  "┌": DOWN | RIGHT,
  "├": UP | DOWN | RIGHT,
  "┤": UP | DOWN | LEFT,
  "┬": DOWN | LEFT | RIGHT,
  "┴": UP | LEFT | RIGHT,
  "┼": UP | DOWN | LEFT | RIGHT,
};
const STEPS = new Map<number, [number, number]>([
  [UP, [0, -1]],
  [DOWN, [0, 1]],
  [LEFT, [-1, 0]],
  [RIGHT, [1, 0]],
]);
const OPPOSITE: Record<number, number> = { [UP]: DOWN, [DOWN]: UP, [LEFT]: RIGHT, [RIGHT]: LEFT };

interface FoundBox {
  id: string;
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Returns the sorted edges: `a > b` for a solid line, `a ? b` for a dashed line, `a ↺ b` for an edge back. */
export function traceDrawing(text: string, ids: readonly string[]): string[] {
  const rows = text.split("\n").map((line) => [...line]);
  const at = (x: number, y: number) => rows[y]?.[x] ?? " ";
  const boxes = ids.map((id) => findBox(rows, at, id));
  const found: string[] = [];
  for (const box of boxes) {
    for (let y = box.top + 2; y < box.bottom; y += 1) {
      const line =
        rows[y]
          ?.slice(box.left + 1, box.right)
          .join("")
          .trim() ?? "";
      found.push(`${box.id} ↺ ${line.replace(/^[─╌]↺ /, "")}`);
    }
    for (let x = box.left + 1; x < box.right; x += 1) {
      if (at(x, box.bottom) !== "┬") continue;
      const sign = isDashed(at, x, box.bottom + 1) ? "?" : ">";
      for (const target of follow(at, boxes, x, box.bottom)) found.push(`${box.id} ${sign} ${target}`);
    }
  }
  return found.sort();
}

/** A vertical character shows its own kind; a corner has the kind of the adjacent horizontal line. */
function isDashed(at: (x: number, y: number) => string, x: number, y: number): boolean {
  const sides = SIDES[at(x, y)] ?? 0;
  return [at(x, y), sides & LEFT ? at(x - 1, y) : "", sides & RIGHT ? at(x + 1, y) : ""].some((char) =>
    ["┊", "╌"].includes(char),
  );
}

function findBox(rows: string[][], at: (x: number, y: number) => string, id: string): FoundBox {
  for (const [y, row] of rows.entries()) {
    const x = row.join("").search(new RegExp(`│ *${id} *│`));
    if (x < 0 || at(x, y - 1) !== "┌") continue;
    let right = x + 1;
    while (at(right, y) !== "│") right += 1;
    let bottom = y + 1;
    while (at(x, bottom) !== "└") bottom += 1;
    return { id, left: x, right, top: y - 1, bottom };
  }
  throw new Error(`no box for ${id} in\n${rows.map((row) => row.join("")).join("\n")}`);
}

/** The ids of the boxes reached by the line that goes down from (x, y). */
function follow(
  at: (x: number, y: number) => string,
  boxes: readonly FoundBox[],
  x: number,
  y: number,
): string[] {
  const targets: string[] = [];
  const open: [number, number, number][] = [[x, y, DOWN]];
  const seen = new Set<string>();
  for (let next = open.pop(); next; next = open.pop()) {
    const [fromX, fromY, direction] = next;
    const [dx, dy] = STEPS.get(direction) ?? [0, 0];
    const [toX, toY] = [fromX + dx, fromY + dy];
    if (seen.has(`${toX} ${toY} ${direction}`)) continue;
    seen.add(`${toX} ${toY} ${direction}`);
    const char = at(toX, toY);
    if (char === "▼") {
      const target = boxes.find(({ left, right, top }) => top === toY + 1 && left < toX && toX < right);
      if (!target) throw new Error(`an arrow at ${toX},${toY} points to no box`);
      targets.push(target.id);
    } else if ("│┊─╌".includes(char)) open.push([toX, toY, direction]);
    else {
      const sides = SIDES[char];
      const back = OPPOSITE[direction] ?? 0;
      if (sides === undefined || !(sides & back)) throw new Error(`a line ends at ${toX},${toY}: ${char}`);
      for (const side of [UP, DOWN, LEFT, RIGHT])
        if (sides & side && side !== back) open.push([toX, toY, side]);
    }
  }
  return targets;
}
