/** Finds an installed browser, and skips tests with a message if there is none. */
import { existsSync } from "node:fs";
import { describe, it } from "vitest";

export interface BrowserPlace {
  name: string;
  /** The environment variable that overrides the path. */
  variable: string;
  path: string | undefined;
  describe: (name: string, tests: () => void) => void;
}

/**
 * Finds the browser. Its `describe` skips the tests without one, or throws if GRAPH_SERVE_REQUIRE_BACKENDS
 * lists it.
 */
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
        throw new Error(
          `GRAPH_SERVE_REQUIRE_BACKENDS requires ${name.toLowerCase()}: set ${variable} to its path`,
        );
      else
        describe(what, () =>
          it.skip(`requires ${name}: not found at ${places.join(", ")}; set ${variable} to its path`),
        );
    },
  };
}
