/** README.md and similar documents, followed step by step in a copy of the repository. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { markedBlocks, type Block } from "./helpers/markdown.js";
import { settled, Tour } from "./helpers/tour.js";

/** The followed documents, each in a separate clone. */
const FOLLOWED = [
  "README.md",
  "docs/tour.md",
  "docs/what-did-this-thread-do.md",
  "docs/embedding.md",
  "docs/safety.md",
];

/** Compares JSON output by value, regardless of formatting, and other output exactly. */
function comparable(text: string, language: string): unknown {
  return language === "json" ? JSON.parse(settled(text)) : settled(text).trimEnd();
}

describe.each(FOLLOWED)("%s, step by step", (document) => {
  let tour: Tour;
  beforeAll(async () => {
    tour = await Tour.open();
  });
  afterAll(() => tour.close());

  const steps = markedBlocks(document).filter(({ kind }) => ["run", "serve", "file"].includes(kind));
  it.each(steps.map((step): [string, Block] => [`${step.kind} ${step.name}`, step]))(
    "%s",
    async (_, step) => {
      const printed = await tour.follow(step);
      if (!step.output) return;
      const { language, text } = step.output;
      expect(comparable(printed, language)).toEqual(comparable(text, language));
    },
  );
});
