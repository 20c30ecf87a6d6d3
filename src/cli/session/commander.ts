/** commander's classes, with types that infer the flags of each command. */
import * as commander from "commander";
import type * as typed from "@commander-js/extra-typings";

// The build contains commander, but not the types package, which re-exports the commander of the user's project at run time.
export const { Argument, Command, Option } = commander as unknown as Pick<
  typeof typed,
  "Argument" | "Command" | "Option"
>;
