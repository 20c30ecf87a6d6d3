/** Differences between two texts, word by word (Myers, "An O(ND) Difference Algorithm and Its Variations"). */

export interface Piece {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Longer texts are not compared. */
const MOST_CHARACTERS = 200_000;
const MOST_WORDS = 20_000;
/** Removed and added words: the time and memory of a comparison grow with their square. */
const MOST_EDITS = 1000;
/** Less than this part in common is easier to read as two texts. */
const LEAST_SHARED = 1 / 3;

/**
 * The pieces of both texts in reading order. Yields regularly so that the caller can do other work.
 * @returns null if the texts are too long or too different
 */
export function* wordDiff(before: string, after: string): Generator<void, Piece[] | null> {
  const longest = Math.max(before.length, after.length);
  if (longest > MOST_CHARACTERS) return null;
  const [old, now] = [wordsOf(before), wordsOf(after)];
  if (Math.max(old.length, now.length) > MOST_WORDS) return null;
  const edits = yield* editsBetween(old, now);
  if (!edits) return null;
  const shared = edits.reduce((sum, { kind, text }) => sum + (kind === "same" ? text.length : 0), 0);
  return shared < longest * LEAST_SHARED ? null : joined(edits);
}

/** Spaces, words, and other characters. Each character of a script without spaces is a word. */
const WORDS = /\s+|(?:(?!\p{scx=Han}|\p{scx=Hira}|\p{scx=Kana}|\p{scx=Thai})[\p{L}\p{M}\p{N}_])+|./gsu;
const wordsOf = (text: string): string[] => text.match(WORDS) ?? [];

/** By diagonal (index in `old` minus index in `now`) + 1 + edits: how far a path with fewer edits reaches in `old`. */
type Round = Int32Array;

/** The shortest list of pieces; undefined if it has more than `MOST_EDITS` edits. */
function* editsBetween(old: readonly string[], now: readonly string[]): Generator<void, Piece[] | undefined> {
  let round: Round = new Int32Array(3);
  const rounds: Round[] = [];
  for (let edits = 0; edits <= MOST_EDITS; edits += 1) {
    yield;
    rounds.push(round);
    const next = new Int32Array(2 * edits + 5);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let [, x] = stepBefore(round, diagonal, edits);
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x += 1;
      next[diagonal + edits + 2] = x;
      if (x >= old.length && x - diagonal >= now.length) return path(old, now, rounds);
    }
    round = next;
  }
  return undefined;
}

/** The neighboring diagonal from which the path comes, and where the path enters this diagonal. */
function stepBefore(round: Round, diagonal: number, edits: number): [from: number, x: number] {
  if (edits === 0) return [diagonal, 0];
  const reach = (of: number): number => round[of + edits + 1] ?? 0;
  const [below, above] = [reach(diagonal - 1), reach(diagonal + 1)];
  const isAdded = diagonal === -edits || (diagonal !== edits && below < above);
  return isAdded ? [diagonal + 1, above] : [diagonal - 1, below + 1];
}

/** Follows the path back from the ends of both texts. */
function path(old: readonly string[], now: readonly string[], rounds: readonly Round[]): Piece[] {
  const pieces: Piece[] = [];
  let x = old.length;
  let diagonal = old.length - now.length;
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const [from, entry] = stepBefore(rounds[edits] ?? new Int32Array(), diagonal, edits);
    while (x > entry) pieces.push({ kind: "same", text: old[--x] ?? "" });
    if (from > diagonal) pieces.push({ kind: "added", text: now[x - from] ?? "" });
    else if (from < diagonal) pieces.push({ kind: "removed", text: old[--x] ?? "" });
    diagonal = from;
  }
  return pieces.reverse();
}

/** Joins pieces of a kind. A space between two replaced words belongs to the replacement, one after it does not. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  const texts = { removed: "", added: "", same: "" };
  const isReplaced = () => texts.removed !== "" && texts.added !== "";
  const flush = () => {
    const space = texts.removed.slice(texts.removed.trimEnd().length);
    if (space !== "" && texts.added.endsWith(space)) {
      texts.removed = texts.removed.slice(0, -space.length);
      texts.added = texts.added.slice(0, -space.length);
      texts.same = space + texts.same;
    }
    for (const kind of ["removed", "added", "same"] as const) {
      if (texts[kind] !== "") result.push({ kind, text: texts[kind] });
      texts[kind] = "";
    }
  };
  for (const { kind, text } of pieces) {
    if (kind !== "same" && texts.same !== "") {
      if (isReplaced() && texts.same.trim() === "") {
        texts.removed += texts.same;
        texts.added += texts.same;
        texts.same = "";
      } else flush();
    }
    texts[kind] += text;
  }
  flush();
  return result;
}
