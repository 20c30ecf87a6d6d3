/** Markdown from models and users must not be able to block the page. */
import { expect, it } from "vitest";
import { markdownTokens } from "../../studio/components/markdown-tokens.js";

/** Types of the tokens and of their direct children. */
const outline = (text: string) =>
  markdownTokens(text)?.map((token) => [
    token.type,
    ...("tokens" in token ? (token.tokens ?? []) : []).map(({ type }) => type),
  ]);

it("markdownTokens parses blocks and inline elements", () => {
  expect(outline("a *b*\n\n> c")).toEqual([
    ["paragraph", "text", "em"],
    ["space"],
    ["blockquote", "paragraph"],
  ]);
});

it.each([">", "- ", "1. "])("markdownTokens leaves deep nesting of %j as plain text", (mark) => {
  expect(markdownTokens(`${mark.repeat(20_000)}a`)).toBeUndefined();
});

it("markdownTokens keeps a paragraph with quadratic cost as plain text and parses the others", () => {
  expect(outline(`${"_a*".repeat(30_000)}\n\n*b*`)).toEqual([
    ["paragraph", "text"],
    ["space"],
    ["paragraph", "em"],
  ]);
});
