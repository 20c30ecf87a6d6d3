import type { Service } from "../service/service.js";
import type { Route, Tag } from "./core/route.js";
import { assistantRoutes, managedRoutes } from "./routes/assistants.js";
import { changeRoutes } from "./routes/changes.js";
import { cronRoutes } from "./routes/crons.js";
import { deadRunRoutes } from "./routes/dead-runs.js";
import { healthRoutes, metricsRoutes } from "./routes/health.js";
import { protocolRoutes } from "./routes/protocol.js";
import { runFollowRoutes } from "./routes/run-follow.js";
import { runRoutes } from "./routes/runs.js";
import { stateRoutes } from "./routes/state.js";
import { statelessRoutes } from "./routes/stateless.js";
import { storeRoutes } from "./routes/store.js";
import { threadRoutes } from "./routes/threads.js";
import { usageRoutes } from "./routes/usage.js";
import { webhookRoutes } from "./routes/webhooks.js";

/** Sort key with one digit per path segment: literals before placeholders. */
const rank = ({ path }: Route) =>
  path.replace(/\/(\{)?[^/]*/g, (_, placeholder) => (placeholder ? "1" : "0"));

/** All routes. If several paths match, the first one applies. */
export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...metricsRoutes,
  ...assistantRoutes,
  ...managedRoutes,
  ...threadRoutes,
  ...changeRoutes,
  ...stateRoutes,
  ...runRoutes,
  ...runFollowRoutes,
  ...deadRunRoutes,
  ...protocolRoutes,
  ...cronRoutes,
  ...webhookRoutes,
  ...usageRoutes,
  ...statelessRoutes,
  ...storeRoutes,
].sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));

type RouteGroup = Service["settings"]["disabled_routes"][number];

/** Group of each tag; health routes belong to no group. */
const GROUPS: Record<Tag, RouteGroup | undefined> = {
  Assistants: "assistants",
  Threads: "threads",
  "Thread state": "threads",
  Changes: "threads",
  Runs: "runs",
  Crons: "runs",
  Webhooks: "runs",
  Usage: "runs",
  "Events and commands": "runs",
  Store: "store",
  "Health and info": undefined,
};
const META = ["get_info", "get_initial_message", "get_metrics"];

/** Operation ids of POST requests that only read. */
const QUERIES = /^(search|count|list)_|^get_state_at_selector$/;

/** Whether a route changes nothing. Joining a run may settle or cancel it, and a socket accepts commands. */
export const isReadOnly = ({ id, method }: Route): boolean =>
  method === "get" ? !/^join_|_socket$/.test(id) : QUERIES.test(id);

const MANAGED_ROUTES: readonly string[] = managedRoutes.map(({ id }) => id);
const WORKER_ROUTES = ["get_ok", "get_ready", "get_metrics"];

/** The routes that are enabled by the settings. */
export function enabledRoutes({
  disabled_routes: disabled,
  crons,
  role,
  webhooks,
  assistants,
}: Pick<
  Service["settings"],
  "disabled_routes" | "crons" | "role" | "webhooks" | "assistants"
>): readonly Route[] {
  if (role === "worker") return ROUTES.filter(({ id }) => WORKER_ROUTES.includes(id));
  return ROUTES.filter(({ id, tag }) => {
    if (assistants === "configured" && MANAGED_ROUTES.includes(id)) return false;
    if ((tag === "Crons" && !crons) || (tag === "Webhooks" && !webhooks)) return false;
    const group = META.includes(id) ? "meta" : GROUPS[tag];
    return group === undefined || !disabled.includes(group);
  });
}
