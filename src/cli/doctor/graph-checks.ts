/** Loads each graph separately, to report all errors together. */
import type { LoadedConfig } from "../../config/load.js";
import { onlyGraph, openConfigured } from "../session/open.js";
import { describeGraph } from "../terminal/text.js";
import { fixOf, type Check, ok, warn, failure } from "./check.js";

export async function graphChecks(config: LoadedConfig): Promise<Check[]> {
  const checks: Check[] = [];
  for (const id of Object.keys(config.settings.graphs)) checks.push(...(await graphCheck(config, id)));
  return checks;
}

async function graphCheck(config: LoadedConfig, id: string): Promise<Check[]> {
  const name = `graph ${id}`;
  try {
    // Without runs: what they need, such as the packages of traces, has its own check.
    const options = { mode: "read", standIns: false } as const;
    const service = await openConfigured(onlyGraph(config, id), undefined, options);
    try {
      const [summary] = await service.graphs();
      const schemas = Object.entries(await service.assistants.schemas(id)).flatMap(([field, schema]) =>
        field.endsWith("_schema") && schema ? [field.replace("_schema", "")] : [],
      );
      const notices = service.notices.filter((notice) => !notice.startsWith("two copies of"));
      return [
        ok(name, `${summary ? describeGraph(summary) : id}, schemas ${schemas.join(" ") || "none"}`),
        ...notices.map((notice) => warn(name, notice, fixOf(notice))),
      ];
    } finally {
      await service.close(0);
    }
  } catch (error) {
    return [failure(name, error, "see graph-serve validate --verbose")];
  }
}
