/** Texts that models and users wrote may be made to stop the page that shows them. */
import { expect, it } from "vitest";
import { markdownTokens } from "../../studio/parts/markdown-tokens.js";

/** Types of the tokens, with those inside. */
const outline = (text: string) =>
  markdownTokens(text)?.map((token) => [
    token.type,
    ...("tokens" in token ? (token.tokens ?? []) : []).map(({ type }) => type),
  ]);

it("takes a text apart", () => {
  expect(outline("a *b*\n\n> c")).toEqual([
    ["paragraph", "text", "em"],
    ["space"],
    ["blockquote", "paragraph"],
  ]);
});

it.each([">", "- ", "1. "])("shows what is nested deeper than the stack as it is: %j", (mark) => {
  expect(markdownTokens(`${mark.repeat(20_000)}a`)).toBeUndefined();
});

it("leaves a paragraph as it is that takes the square of its length, and takes the others apart", () => {
  expect(outline(`${"_a*".repeat(30_000)}\n\n*b*`)).toEqual([
    ["paragraph", "text"],
    ["space"],
    ["paragraph", "em"],
  ]);
});
