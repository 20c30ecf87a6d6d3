import { Option } from "@commander-js/extra-typings";
import { examples, type Parent, type Runner } from "../command.js";
import { DIFF_FORMATS } from "../diff/formats.js";
import { listOption } from "../key-values.js";
import { sourceOptions } from "../source/source-options.js";

const EXAMPLE = "0198c0de-0000-7000-8000-000000000000";
const SIDE = "thread, thread@step, thread@checkpoint (@-1 is the latest), or a file of JSON";

export function addDiffCommand(program: Parent, run: Runner): void {
  program
    .command("diff")
    .description("Compare the values of two checkpoints, of one thread or of two, or of files.")
    .argument("<a>", SIDE)
    .argument("<b>", SIDE)
    .option("--path <path>", "compare only what stands there, such as messages[-1]")
    .addOption(listOption("--ignore <path>", "leave out what stands there; * is any key or item"))
    .option("--exit-code", "exit 1 when they differ")
    .addOption(
      new Option("--format <format>", "form of the result").choices(DIFF_FORMATS).default("text" as const),
    )
    .addOption(sourceOptions.url())
    .addOption(sourceOptions.apiKey())
    .addOption(sourceOptions.scheme())
    .addOption(sourceOptions.uri())
    .addOption(sourceOptions.raw())
    .addHelpText(
      "after",
      examples(
        `graph-serve diff ${EXAMPLE}@0 ${EXAMPLE}`,
        `graph-serve diff ${EXAMPLE}@-2 ${EXAMPLE}@-1 --path messages --format json-patch`,
        `graph-serve diff expected.json ${EXAMPLE} --ignore "messages.*.id" --exit-code`,
        `graph-serve diff ${EXAMPLE}@0 ${EXAMPLE} --format html > diff.html`,
      ),
    )
    .action((a, b, options, command) =>
      run(command, async (session) => (await import("../actions/diff.js")).diff(session, a, b, options)),
    );
}
