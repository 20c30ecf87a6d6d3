import type { Route } from "./route.js";
import { assistantRoutes } from "./routes/assistants.js";
import { healthRoutes } from "./routes/health.js";
import { metricsRoutes } from "./routes/metrics.js";
import { runFollowRoutes } from "./routes/run-follow.js";
import { runRoutes } from "./routes/runs.js";
import { stateRoutes } from "./routes/state.js";
import { statelessRoutes } from "./routes/stateless.js";
import { storeRoutes } from "./routes/store.js";
import { threadRoutes } from "./routes/threads.js";

/** One digit a path segment: literal before placeholder. */
const rank = ({ path }: Route) =>
  path.replace(/\/(\{)?[^/]*/g, (_, placeholder) => (placeholder ? "1" : "0"));

/** Every route. Where two paths match, the one that stands first wins. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...metricsRoutes,
  ...assistantRoutes,
  ...threadRoutes,
  ...stateRoutes,
  ...runRoutes,
  ...runFollowRoutes,
  ...statelessRoutes,
  ...storeRoutes,
].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
