import type { Command } from "@commander-js/extra-typings";
import { runChecks } from "../doctor/checks.js";
import { reportChecks } from "../doctor/report.js";
import { examples, type Runner } from "../session/command.js";
import { errorText } from "../session/report-error.js";
import { loadSettings, type Session } from "../session/session.js";

export function validateCommand(command: Command, run: Runner): void {
  command
    .argument("[graph...]", "files such as ./graph.ts:graph, or keys of the configuration")
    .option("--config-only", "check only the configuration, without loading graphs")
    .addHelpText(
      "after",
      examples(
        "graph-serve validate",
        "graph-serve validate ./graph.ts --json",
        "graph-serve validate --config-only -c graph-server.config.json",
      ),
    )
    .action((graphs, flags) => run(command, async (session) => validateConfig(session, graphs, flags)));
}

const FAULT_EXIT = 2;

/**
 * `validate`: the checks of `doctor` that need no network. Reports all errors together, with their places.
 * @throws ConfigError if the configuration cannot be read (`config_invalid`)
 */
export async function validateConfig(
  session: Session,
  targets: readonly string[],
  { configOnly = false }: { configOnly?: boolean },
): Promise<number> {
  const { io, print } = session;
  // A check reports the warnings.
  const config = await loadSettings(session, { graphs: targets, warn: () => undefined });
  const load = () => Promise.resolve(config);
  const checks = await runChecks(
    session,
    configOnly
      ? { load, needs: ["config"], withoutGraphs: "ok" }
      : { load, needs: ["process", "config", "graphs"], withoutGraphs: "fail" },
  );
  reportChecks(session, checks);
  if (!print.flags.json)
    for (const { cause } of checks)
      if (cause !== undefined)
        io.stderr.write(
          `\n${errorText(cause, { colors: print.noteColors, io, verbose: print.flags.verbose })}`,
        );
  return checks.some(({ status }) => status === "fail") ? FAULT_EXIT : 0;
}
