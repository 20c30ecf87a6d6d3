import { examples, type Parent, type Runner } from "../command.js";

export function addOpenapiCommand(program: Parent, run: Runner): void {
  program
    .command("openapi")
    .description("Print the OpenAPI document of the HTTP interface.")
    .option("--out <file>", "write it to a file")
    .option("--yaml", "as YAML")
    .option("--check <file>", "compare it with a file: exit 1 when they differ")
    .addHelpText(
      "after",
      examples("graph-serve openapi --out openapi.json", "graph-serve openapi --check openapi.json"),
    )
    .action((options, command) =>
      run(command, async (session) => (await import("../actions/openapi.js")).openapi(session, options)),
    );
}
