/** Differences between texts, word by word. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { inSlices } from "../../studio/components/slices.js";
import { type Piece, wordDiff } from "../../studio/components/word-diff.js";

const diff = (before: string, after: string) => inSlices(wordDiff(before, after), () => false);
const marked = (pieces: readonly Piece[] | null | undefined) =>
  pieces
    ?.map(({ kind, text }) => (kind === "same" ? text : `{${kind === "added" ? "+" : "-"}${text}}`))
    .join("");
const sideOf = (pieces: readonly Piece[], other: Piece["kind"]) =>
  pieces
    .filter(({ kind }) => kind !== other)
    .map(({ text }) => text)
    .join("");
const manyWords = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `w${from + index}`).join(" ");

it.each([
  ["The fee is 30 euros.", "The fee is 45 euros.", "The fee is {-30}{+45} euros."],
  [
    "Send it now, please.",
    "Please send it by mail, please.",
    "{-Send}{+Please send} it {-now}{+by mail}, please.",
  ],
  ["one two three four five", "one 2 3 four five", "one {-two three}{+2 3} four five"],
  ["within 30 days of it", "within 45 working days of it", "within {-30}{+45 working} days of it"],
  ["keep this text", "keep this whole text", "keep this {+whole }text"],
  ["keep this text", "keep this text", "keep this text"],
  ["我喜欢绿色的茶和咖啡", "我喜欢黑色的茶和咖啡", "我喜欢{-绿}{+黑}色的茶和咖啡"],
])("marks the removed and added words of %j", async (before, after, expected) => {
  expect(marked(await diff(before, after))).toBe(expected);
});

it("contains both texts", async () => {
  const words = fc.array(fc.constantFrom("a", "b", "c", " ", "\n", "."), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(words, words, async (one, other) => {
      const [before, after] = [`start of it ${one.join("")}`, `start of it ${other.join("")}`];
      const pieces = await diff(before, after);
      if (!pieces) return;
      expect(sideOf(pieces, "added")).toBe(before);
      expect(sideOf(pieces, "removed")).toBe(after);
    }),
  );
});

it("finds few edits in 20,000 words and gives up on texts that are too long or too different", async () => {
  // Spaces count, too.
  const long = manyWords(10_000);
  const pieces = await diff(long, long.replace("w1 ", "").replace("w9998", "other"));
  expect(pieces?.filter(({ kind }) => kind !== "same")).toEqual([
    { kind: "removed", text: "w1 " },
    { kind: "removed", text: "w9998" },
    { kind: "added", text: "other" },
  ]);
  expect(await diff(long, `${long} ${long}`)).toBeNull();
  expect(await diff(manyWords(4000), manyWords(4000, 5000))).toBeNull();
  expect(await diff("something else", "nothing in common")).toBeNull();
  expect(await diff("x".repeat(200_001), "x")).toBeNull();
});

it("yields while it compares", () => {
  const work = wordDiff(manyWords(500), manyWords(500, 100));
  let yields = 0;
  while (!work.next().done) yields += 1;
  expect(yields).toBeGreaterThan(50);
});
