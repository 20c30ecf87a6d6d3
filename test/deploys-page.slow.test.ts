/** docs/deploys.md: a renamed node, from the refusal in CI to the migrated threads, with the commands that it shows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Block, markedBlocks } from "./helpers/markdown.js";
import { settled, Tour } from "./helpers/tour.js";

const STEPS = markedBlocks("docs/deploys.md").map((step): [string, Block] => [
  `${step.kind} ${step.name}`,
  step,
]);

const comparable = (text: string) => settled(text).trimEnd();

describe("docs/deploys.md, step by step", () => {
  let tour: Tour;
  beforeAll(async () => {
    tour = await Tour.open();
    await tour.enter("my-agent");
  });
  afterAll(() => tour.close());

  it("has the steps from the waiting thread to its answer", () => {
    expect(STEPS.map(([name]) => name)).toEqual([
      ...["file graph.mjs", "file graph-server.config.json", "run friday"],
      ...["run check", "run refused", "run migration", "run migrate"],
    ]);
  });

  it.each(STEPS)("%s", async (_, step) => {
    const printed = await tour.follow(step);
    if (step.output) expect(comparable(printed)).toBe(comparable(step.output.text));
  });
});
