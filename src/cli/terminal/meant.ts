/** Commands that users of other tools look for, and the command that does the same here. */

/** By the words of the command line. */
const COMMANDS: Readonly<Record<string, string>> = {
  ls: "threads list",
  list: "threads list",
  show: "inspect thread",
  get: "inspect thread",
  rm: "threads delete",
  delete: "threads delete",
  ps: "runs list",
  log: "runs tail",
  logs: "runs tail",
  tail: "runs tail",
  serve: "start",
  up: "start",
  new: "init",
  create: "init",
  build: "dockerfile",
  deploy: "dockerfile",
  check: "validate",
  status: "doctor",
  chat: "run --interactive",
  draw: "graph",
  "threads show": "inspect thread",
  "threads inspect": "inspect thread",
  "threads history": "history",
  "threads state": "inspect state",
  "runs show": "inspect run",
  "runs inspect": "inspect run",
  "runs logs": "runs tail",
  "runs watch": "runs tail",
  "runs follow": "runs tail",
  "config show": "config print",
  "config list": "config print",
};

/** By the last word, where the group has such a subcommand. */
const SUBCOMMANDS: Readonly<Record<string, string>> = {
  ls: "list",
  rm: "delete",
  remove: "delete",
  get: "show",
  add: "create",
  new: "create",
  update: "patch",
};

/** By group, for an id where a subcommand belongs. */
const COMMANDS_OF_IDS: Readonly<Record<string, string>> = {
  "": "inspect thread",
  inspect: "inspect thread",
  threads: "inspect thread",
  runs: "inspect run",
  assistants: "assistants show",
  crons: "crons show",
};
/** An id, the beginning of one, or `@last`. */
const ID = /^(@last|(?=.*\d)[0-9a-f]{4,8}|[0-9a-f]{8}-[0-9a-f-]*)$/i;

/**
 * The command that `word` means after the names of a group, such as `runs`.
 * @param known the group's subcommands
 * @returns the words after `graph-serve`; undefined if it is unknown
 */
export function meantCommand(
  group: readonly string[],
  word: string,
  known: readonly string[],
): string | undefined {
  const key = [...group, word].join(" ");
  if (Object.hasOwn(COMMANDS, key)) return COMMANDS[key];
  const name = group.join(" ");
  if (ID.test(word) && Object.hasOwn(COMMANDS_OF_IDS, name)) return `${COMMANDS_OF_IDS[name]} ${word}`;
  const subcommand = Object.hasOwn(SUBCOMMANDS, word) ? SUBCOMMANDS[word] : undefined;
  return subcommand !== undefined && known.includes(subcommand)
    ? [...group, subcommand].join(" ")
    : undefined;
}
