/** commander's classes, with types that infer the flags of each command. */
import * as commander from "commander";
import type * as typed from "@commander-js/extra-typings";

// The types package is a development dependency: at run time it would resolve the commander of the user's project, which
// may be an older version.
export const { Argument, Command, Option } = commander as unknown as Pick<
  typeof typed,
  "Argument" | "Command" | "Option"
>;
