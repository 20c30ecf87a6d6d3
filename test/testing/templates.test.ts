/** The case files of the templates pass without an API key and network access. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli } from "../cli/harness.js";

const TEMPLATES = join(import.meta.dirname, "../../templates");

describe.each(["chat", "agent-tools", "hitl", "minimal"])("the cases of the template %s", (name) => {
  it.each([["in this process"], ["over HTTP", "--server"]])(
    "pass %s and cover every node",
    async (_, ...flags) => {
      const argv = ["test", "--ci", "--min-node-coverage", "100", ...flags];
      const { code, stdout, stderr } = await cli(argv, { cwd: join(TEMPLATES, name) });
      expect({ code, stdout, stderr }).toMatchObject({ code: 0, stderr: "" });
    },
  );
});
