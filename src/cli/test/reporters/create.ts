import { dotReporter, listReporter } from "./list.js";
import { githubReporter } from "./github.js";
import { jsonReporter } from "./json.js";
import { junitReporter } from "./junit.js";
import type { Reporter, ReporterName, Reporting } from "./reporter.js";
import { tapReporter } from "./tap.js";

const CREATE: Record<ReporterName, (reporting: Reporting) => Reporter> = {
  list: listReporter,
  dot: dotReporter,
  json: jsonReporter,
  junit: junitReporter,
  github: githubReporter,
  tap: tapReporter,
};

export const createReporter = (name: ReporterName, reporting: Reporting): Reporter => CREATE[name](reporting);
