import type { Command } from "@commander-js/extra-typings";
import type { CheckStatus } from "../doctor/check.js";
import { runChecks } from "../doctor/checks.js";
import { reportChecks } from "../doctor/report.js";
import { examples, type Runner } from "../session/command.js";
import { storageConfig } from "../session/open.js";
import { addStorageOptions, type StorageFlags } from "../session/options.js";
import type { Session } from "../session/session.js";
import { counted } from "../terminal/text.js";

export function doctorCommand(command: Command, run: Runner): void {
  addStorageOptions(command)
    .addHelpText("after", examples("graph-serve doctor", "graph-serve doctor --json"))
    .action((options) => run(command, async (session) => doctor(session, options)));
}

const FAILED_EXIT = 1;
const ALL = ["process", "config", "graphs", "network"] as const;

/** `doctor`: checks everything a server needs, and shows how to fix problems. */
async function doctor(session: Session, flags: StorageFlags): Promise<number> {
  const { print } = session;
  // A check reports the warnings.
  const load = () => storageConfig(session, flags, { warn: () => undefined });
  const checks = await runChecks(session, { load, needs: ALL, withoutGraphs: "warn" });
  reportChecks(session, checks);
  const count = (status: CheckStatus) => checks.filter((check) => check.status === status).length;
  const [fails, warns] = [count("fail"), count("warn")];
  if (!print.flags.json)
    print.note(
      fails + warns === 0 ? "no problems found" : `${counted(fails, "error")}, ${counted(warns, "warning")}`,
    );
  return fails > 0 ? FAILED_EXIT : 0;
}
