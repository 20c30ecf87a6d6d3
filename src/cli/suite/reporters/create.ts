import { junitReporter } from "./junit.js";
import { dotReporter, githubReporter, jsonReporter, listReporter, tapReporter } from "./list.js";
import type { Reporter, ReporterName, Reporting } from "./reporter.js";

const CREATE: Record<ReporterName, (reporting: Reporting) => Reporter> = {
  list: listReporter,
  dot: dotReporter,
  json: jsonReporter,
  junit: junitReporter,
  github: githubReporter,
  tap: tapReporter,
};

export const createReporter = (name: ReporterName, reporting: Reporting): Reporter => CREATE[name](reporting);
