/** Reads the commands and options of the CLI from its `--help` output. */
import { Readable } from "node:stream";
import { COMMAND_GROUPS } from "../../src/cli/commands.js";
import { main } from "../../src/cli/main.js";

export interface HelpEntry {
  term: string;
  text: string;
}

export interface CommandHelp {
  /** For example `config print`. Empty for the program itself, whose options apply to every command. */
  name: string;
  usage: string;
  description: string;
  args: HelpEntry[];
  options: HelpEntry[];
  commands: HelpEntry[];
  examples: string[];
}

/** Wide enough to avoid line wraps. */
const COLUMNS = 2_000;

/** The program and all commands, including subcommands. */
export async function readHelp(path: readonly string[] = []): Promise<CommandHelp[]> {
  const help = parseHelp(path.join(" "), await print([...path, "--help"]));
  const names = help.commands
    .map(({ term }) => term.split(/[ |]/)[0] ?? "")
    .filter((name) => name !== "help");
  const below: CommandHelp[] = [];
  for (const name of names) below.push(...(await readHelp([...path, name])));
  return [help, ...below];
}

async function print(argv: string[]): Promise<string> {
  let text = "";
  const output = { columns: COLUMNS, isTTY: false, write: (chunk: string) => ((text += chunk), true) };
  const io = { stdout: output, stderr: output, stdin: Readable.from([]), env: {}, cwd: process.cwd() };
  const code = await main(argv, io);
  if (code !== 0) throw new Error(`graph-serve ${argv.join(" ")} exited with code ${code}: ${text}`);
  return text;
}

function parseHelp(name: string, text: string): CommandHelp {
  const blocks = text.trimEnd().split("\n\n");
  const linesOf = (title: string): string[] => {
    const [, ...lines] = blocks.find((block) => block.startsWith(`${title}:\n`))?.split("\n") ?? [];
    return lines.map((line) => line.trim());
  };
  const entriesOf = (title: string) => linesOf(title).map(entry);
  return {
    name,
    usage: blocks[0]?.replace(/^Usage: /, "") ?? "",
    description: blocks[1] ?? "",
    args: entriesOf("Arguments"),
    options: entriesOf("Options"),
    commands: [...Object.keys(COMMAND_GROUPS), "Commands"].flatMap(entriesOf),
    examples: linesOf("Examples"),
  };
}

function entry(line: string): HelpEntry {
  const [term = "", ...text] = line.split(/ {2,}/);
  return { term, text: text.join(" ") };
}
