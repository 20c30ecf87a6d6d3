/** Names and summaries of the commands; their flags and actions are loaded when they are called. */
import type { Command } from "@commander-js/extra-typings";
import type { COMMAND_NAMES } from "./terminal/called-as.js";
import type { Runner } from "./session/command.js";

type CommandName = (typeof COMMAND_NAMES)[number];

/** Adds arguments, flags and an action to a command, or its subcommands. */
type Define = (command: Command, run: Runner) => void;

export interface CommandEntry {
  name: CommandName;
  alias?: string;
  /** One line in the program's help. */
  summary: string;
  load: () => Promise<Define>;
}

/** The commands by heading, in the order of the program's help. */
export const COMMAND_GROUPS: Readonly<Record<string, readonly CommandEntry[]>> = {
  Develop: [
    {
      name: "demo",
      summary: "Serve an example graph in memory and stream one run; needs no project and no API key.",
      load: async () => (await import("./commands/demo.js")).demoCommand,
    },
    {
      name: "dev",
      summary: "Serve graphs locally with hot reload.",
      load: async () => (await import("./commands/dev.js")).devCommand,
    },
    {
      name: "run",
      summary: "Run a graph once, in this process or on a server, and stream its output.",
      load: async () => (await import("./commands/run.js")).runCommand,
    },
    {
      name: "test",
      alias: "smoke",
      summary: "Test graphs with case files; without case files, load, draw and run every graph once.",
      load: async () => (await import("./commands/test.js")).testCommand,
    },
    {
      name: "init",
      summary: "Create a project with a graph that runs without an API key.",
      load: async () => (await import("./commands/init.js")).initCommand,
    },
  ],
  Debug: [
    {
      name: "studio",
      summary: "Browse the data of a storage or a server in the Studio; no graph is needed.",
      load: async () => (await import("./commands/studio.js")).studioCommand,
    },
    {
      name: "threads",
      summary: "List, create, update and delete threads, with or without a server.",
      load: async () => (await import("./commands/threads.js")).threadsCommand,
    },
    {
      name: "runs",
      summary: "List runs, follow them, and requeue dead ones, with or without a server.",
      load: async () => (await import("./commands/runs.js")).runsCommand,
    },
    {
      name: "assistants",
      summary: "List, show and delete assistants, with or without a server.",
      load: async () => (await import("./threads/assistants.js")).assistantsCommand,
    },
    {
      name: "crons",
      summary: "List, show, pause, resume and delete crons, with or without a server.",
      load: async () => (await import("./commands/crons.js")).cronsCommand,
    },
    {
      name: "webhooks",
      summary: "List undelivered webhooks, and resend or delete them.",
      load: async () => (await import("./commands/webhooks.js")).webhooksCommand,
    },
    {
      name: "usage",
      summary: "Sum tokens and costs by model, user, graph, node or day, with or without a server.",
      load: async () => (await import("./commands/usage.js")).usageCommand,
    },
    {
      name: "inspect",
      summary: "Show threads, runs and checkpoints in detail, with or without a server.",
      load: async () => (await import("./commands/inspect.js")).inspectCommand,
    },
    {
      name: "trace",
      summary: "Show the spans of a stored run, or export stored runs to an OpenTelemetry collector.",
      load: async () => (await import("./commands/trace.js")).traceCommand,
    },
    {
      name: "history",
      summary: "Show the checkpoints of a thread, newest first, with branches from forks and time travel.",
      load: async () => (await import("./commands/history.js")).historyCommand,
    },
    {
      name: "replay",
      summary: "Step through the checkpoints of a thread; with --execute, run it again.",
      load: async () => (await import("./commands/replay.js")).replayCommand,
    },
    {
      name: "diff",
      summary: "Compare the values of two checkpoints, of the same or different threads, or of files.",
      load: async () => (await import("./commands/diff.js")).diffCommand,
    },
    {
      name: "fork",
      summary: "Fork a thread from a checkpoint, into a copy or as a branch.",
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
      summary: "Execute queued runs without serving the API.",
      load: async () => (await import("./commands/start.js")).workerCommand,
    },
    {
      name: "mcp",
      summary: "Serve graphs as MCP tools over stdin and stdout, to a client that starts this command.",
      load: async () => (await import("./commands/mcp.js")).mcpCommand,
    },
    {
      name: "dockerfile",
      summary: "Write a Dockerfile for the project; with --compose, also a compose.yaml with its databases.",
      load: async () => (await import("./commands/dockerfile.js")).dockerfileCommand,
    },
    {
      name: "migrate",
      summary: "Migrate a storage to this release, or copy it to another storage.",
      load: async () => (await import("./commands/migrate.js")).migrateCommand,
    },
    {
      name: "recover",
      summary: "List the runs that a crashed server left unfinished, or end them.",
      load: async () => (await import("./commands/recover.js")).recoverCommand,
    },
    {
      name: "doctor",
      summary: "Find problems in the setup and how to fix them; exits with code 1 if there are errors.",
      load: async () => (await import("./commands/doctor.js")).doctorCommand,
    },
    {
      name: "versions",
      summary: "List the versions of graphs, and check whether stored threads can continue after a deploy.",
      load: async () => (await import("./versions/versions.js")).versionsCommand,
    },
    {
      name: "shadow",
      summary: "Execute stored runs again on a changed graph, in memory, and list what differs.",
      load: async () => (await import("./shadow/command.js")).shadowCommand,
    },
    {
      name: "export",
      summary: "Export a thread with all its checkpoints to one JSON file, from a storage or a server.",
      load: async () => (await import("./commands/transfer.js")).exportCommand,
    },
    {
      name: "import",
      summary: "Import an exported thread, to read its history or continue from its latest state.",
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
      summary: "Load the configuration and every graph and derive their schemas, without serving.",
      load: async () => (await import("./commands/validate.js")).validateCommand,
    },
    {
      name: "config",
      summary: "Show the effective settings and where they come from.",
      load: async () => (await import("./commands/config.js")).configCommand,
    },
    {
      name: "openapi",
      summary: "Print the OpenAPI document of the HTTP API, or compare it with a file.",
      load: async () => (await import("./commands/openapi.js")).openapiCommand,
    },
    {
      name: "completion",
      summary: "Print a shell completion script for commands and flags.",
      load: async () => (await import("./commands/completion.js")).completionCommand,
    },
  ],
};

/** Commands of the previous release and their replacements. */
export const FORMER_COMMANDS: readonly { name: string; now: string; load: CommandEntry["load"] }[] = [
  {
    name: "pull",
    now: "export THREAD --url URL",
    load: async () => (await import("./commands/transfer.js")).pullCommand,
  },
];
