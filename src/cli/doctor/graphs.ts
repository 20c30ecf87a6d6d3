/** Loads each graph for itself, so that every fault is seen at once. */
import type { LoadedConfig } from "../../config/load.js";
import { describeGraph } from "../describe-graph.js";
import { onlyGraph } from "../open-graph.js";
import { openConfigured } from "../open.js";
import { failure, ok, warn, type Check } from "./check.js";

export async function graphChecks(config: LoadedConfig): Promise<Check[]> {
  const ids = Object.keys(config.settings.graphs);
  if (ids.length === 0) {
    return [warn("graphs", "no graph is configured", "name one in `graphs`, or: graph-serve init my-agent")];
  }
  const checks: Check[] = [];
  for (const id of ids) checks.push(...(await graphCheck(config, id)));
  return checks;
}

async function graphCheck(config: LoadedConfig, id: string): Promise<Check[]> {
  const name = `graph ${id}`;
  try {
    const service = await openConfigured(onlyGraph(config, id));
    try {
      const [summary] = await service.graphs();
      const notices = service.notices.filter((notice) => !notice.startsWith("two copies of"));
      return [
        ok(name, summary ? describeGraph(summary) : id),
        ...notices.map((notice) => warn(name, notice, fixOf(notice))),
      ];
    } finally {
      await service.close(0);
    }
  } catch (error) {
    return [failure(name, error, "see graph-serve validate --verbose")];
  }
}

function fixOf(notice: string): string {
  if (notice.includes("its own checkpointer")) return "compile it without a checkpointer";
  if (notice.includes("was not compiled")) return "export builder.compile()";
  return "see graph-serve validate";
}
