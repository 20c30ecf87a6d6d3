/** Where a browser is on this machine, and a loud skip of what needs one that is not here. */
import { existsSync } from "node:fs";
import { describe, it } from "vitest";

export interface BrowserPlace {
  name: string;
  /** The environment variable that names another place. */
  variable: string;
  path: string | undefined;
  describe: (name: string, tests: () => void) => void;
}

/** What is described is skipped without the browser, and fails when GRAPH_SERVE_REQUIRE_BACKENDS lists it. */
export function browserAt(name: string, variable: string, places: readonly string[]): BrowserPlace {
  const path = process.env[variable] ?? places.find((place) => existsSync(place));
  const isRequired = process.env.GRAPH_SERVE_REQUIRE_BACKENDS?.split(",").includes(name.toLowerCase());
  return {
    name,
    variable,
    path,
    describe(what, tests) {
      if (path !== undefined) describe(what, tests);
      else if (isRequired)
        throw new Error(`GRAPH_SERVE_REQUIRE_BACKENDS asks for ${name.toLowerCase()}: set ${variable}`);
      else describe(what, () => it.skip(`needs ${name}: none at ${places.join(", ")}, set ${variable}`));
    },
  };
}
