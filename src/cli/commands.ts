/** The commands by name. The program knows what each is for; its flags and what it does are loaded when it is called. */
import type { Command } from "@commander-js/extra-typings";
import type { COMMAND_NAMES } from "./terminal/called-as.js";
import type { Runner } from "./session/command.js";

type CommandName = (typeof COMMAND_NAMES)[number];

/** Gives a command its arguments, flags and action, or the commands below it. */
type Define = (command: Command, run: Runner) => void;

export interface CommandEntry {
  name: CommandName;
  alias?: string;
  /** One line of the program's help. */
  summary: string;
  load: () => Promise<Define>;
}

/** The commands under the headings of the program's help, in its order. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly CommandEntry[]>> = {
  Develop: [
    {
      name: "dev",
      summary: "Serve graphs on this machine, with hot reload when a file is saved.",
      load: async () => (await import("./commands/dev.js")).devCommand,
    },
    {
      name: "run",
      summary: "Run a graph once, in this process or on a server, and show what it does.",
      load: async () => (await import("./commands/run.js")).runCommand,
    },
    {
      name: "test",
      alias: "smoke",
      summary: "Test graphs by case files; without any, load, draw and run every graph once.",
      load: async () => (await import("./commands/test.js")).testCommand,
    },
    {
      name: "init",
      summary: "Make a project with a graph that runs without an API key.",
      load: async () => (await import("./commands/init.js")).initCommand,
    },
  ],
  Debug: [
    {
      name: "studio",
      summary: "Look at a storage, or at a server, in a browser; no graph is needed.",
      load: async () => (await import("./commands/studio.js")).studioCommand,
    },
    {
      name: "threads",
      summary: "List, read, make, change and delete threads, with or without a server.",
      load: async () => (await import("./commands/threads.js")).threadsCommand,
    },
    {
      name: "runs",
      summary: "List and read the runs of a thread, with or without a server.",
      load: async () => (await import("./commands/runs.js")).runsCommand,
    },
    {
      name: "crons",
      summary: "List, pause, resume and delete crons, with or without a server.",
      load: async () => (await import("./commands/crons.js")).cronsCommand,
    },
    {
      name: "webhooks",
      summary: "List webhooks that have not arrived, and have them sent again.",
      load: async () => (await import("./commands/webhooks.js")).webhooksCommand,
    },
    {
      name: "inspect",
      summary: "Look into threads, runs and checkpoints, with or without a server.",
      load: async () => (await import("./commands/inspect.js")).inspectCommand,
    },
    {
      name: "history",
      summary: "Show the checkpoints of a thread, newest first, with the branches of forks and time travel.",
      load: async () => (await import("./commands/history.js")).historyCommand,
    },
    {
      name: "replay",
      summary: "Go through a thread checkpoint by checkpoint; no node is executed, but with --execute.",
      load: async () => (await import("./commands/replay.js")).replayCommand,
    },
    {
      name: "diff",
      summary: "Compare the values of two checkpoints, of one thread or of two, or of files.",
      load: async () => (await import("./commands/diff.js")).diffCommand,
    },
    {
      name: "fork",
      summary: "Give a thread another future: on a copy of it, or as a branch.",
      load: async () => (await import("./commands/fork.js")).forkCommand,
    },
    {
      name: "state",
      summary: "Edit the state of a thread.",
      load: async () => (await import("./commands/fork.js")).stateCommand,
    },
  ],
  Ship: [
    {
      name: "start",
      summary: "Serve graphs in production: JSON logs, no file watching, graceful shutdown.",
      load: async () => (await import("./commands/start.js")).startCommand,
    },
    {
      name: "worker",
      summary: "Execute runs that wait in the queue, and serve no requests for others.",
      load: async () => (await import("./commands/start.js")).workerCommand,
    },
    {
      name: "mcp",
      summary: "Serve graphs as tools to a client that starts this itself, over stdin and stdout.",
      load: async () => (await import("./commands/mcp.js")).mcpCommand,
    },
    {
      name: "dockerfile",
      summary: "Make what a container of the project is built from, with PostgreSQL if asked.",
      load: async () => (await import("./commands/dockerfile.js")).dockerfileCommand,
    },
    {
      name: "migrate",
      summary: "Bring a storage up to this release, or copy one to another.",
      load: async () => (await import("./commands/migrate.js")).migrateCommand,
    },
    {
      name: "recover",
      summary: "List the runs that a dead server left unfinished, or settle them.",
      load: async () => (await import("./commands/recover.js")).recoverCommand,
    },
    {
      name: "doctor",
      summary: "Look for faults of the setup, each with its fix: exit 1 when there is one.",
      load: async () => (await import("./commands/doctor.js")).doctorCommand,
    },
    {
      name: "export",
      summary: "Write a thread with all its checkpoints as one JSON file, from a storage or a server.",
      load: async () => (await import("./commands/transfer.js")).exportCommand,
    },
    {
      name: "import",
      summary: "Store an exported thread: its history can be read, and its latest state run on.",
      load: async () => (await import("./commands/transfer.js")).importCommand,
    },
  ],
  Project: [
    {
      name: "graph",
      summary: "Draw a graph in the terminal, or as Mermaid, Graphviz or JSON.",
      load: async () => (await import("./commands/graph.js")).graphCommand,
    },
    {
      name: "schemas",
      summary: "Print the schemas of a graph as JSON schema or TypeScript, or check them against files.",
      load: async () => (await import("./commands/schemas.js")).schemasCommand,
    },
    {
      name: "validate",
      summary: "Load the configuration and every graph, derive the schemas, serve nothing.",
      load: async () => (await import("./commands/validate.js")).validateCommand,
    },
    {
      name: "config",
      summary: "Show the settings and where they come from.",
      load: async () => (await import("./commands/config.js")).configCommand,
    },
    {
      name: "openapi",
      summary: "Print the OpenAPI document of the HTTP interface.",
      load: async () => (await import("./commands/openapi.js")).openapiCommand,
    },
    {
      name: "completion",
      summary: "Print a script that completes commands and flags in a shell.",
      load: async () => (await import("./commands/completion.js")).completionCommand,
    },
  ],
};

/** Commands of the release before, and what they are now. */
export const FORMER_COMMANDS: readonly { name: string; now: string; load: CommandEntry["load"] }[] = [
  {
    name: "pull",
    now: "export THREAD --url URL",
    load: async () => (await import("./commands/transfer.js")).pullCommand,
  },
];
