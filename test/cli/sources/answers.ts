/** The commands to compare on every source, and the normalization of their output. */
import type { CliResult } from "../harness.js";
import { KINDS, type EveryKind } from "./every-kind.js";

const NOBODY = "0198c0de-0000-7000-8000-000000000000";

/** Commands that only read: successes, empty results and errors. */
export function readings({ threads, run, fork, namespace }: EveryKind): string[][] {
  const { chat, asking, failed, team, fan, odd, vault, empty } = threads;
  const all = KINDS.map((kind) => threads[kind]).flatMap((id) => [
    ["inspect", "thread", id],
    ["history", id],
    ["export", id],
  ]);
  const some = [chat, team, fan, odd, empty].flatMap((id) => [
    ["inspect", "thread", id],
    ["runs", "list", id],
    ["inspect", "thread", id, "--values"],
    ["inspect", "checkpoint", id],
    ["inspect", "state", id],
    ["replay", id],
  ]);
  return [
    ["threads", "list"],
    ["threads", "list", "--limit", "2", "--sort", "created_at:asc"],
    ["threads", "list", "--limit", "2", "--offset", "2"],
    ["threads", "list", "--metadata", 'zone={"west":1}', "--metadata", "n=3"],
    ["threads", "list", "--values", "topic=cats"],
    ["threads", "list", "--values", "secret=classified"],
    ["threads", "list", "--status", "interrupted"],
    ["threads", "list", "--status", "busy"],
    ["threads", "list", "--since", "12h"],
    ["threads", "list", "--since", "2999-01-01T00:00:00Z"],
    ["threads", "list", "--sort", "age"],
    ...all,
    ...some,
    ["inspect", "thread", NOBODY],
    ["inspect", "thread", "not an id"],
    ["runs", "list", chat, "--limit", "2", "--offset", "1"],
    ["runs", "list", failed, "--status", "error"],
    ["runs", "list", chat, "--status", "timeout"],
    ["inspect", "run", run, "--thread", chat],
    ["inspect", "run", run, "--thread", asking],
    ["runs", "list", NOBODY],
    ["inspect", "thread", NOBODY],
    ["inspect", "run", run],
    ["inspect", "run", run, "--thread", chat],
    ["inspect", "run", NOBODY],
    ["inspect", "run", "nothing"],
    ["inspect", "checkpoint", chat, fork, "--writes"],
    ["inspect", "checkpoint", chat, fork.slice(0, 13)],
    ["inspect", "checkpoint", chat, "99"],
    ["inspect", "checkpoint", team, "--ns", namespace, "--writes"],
    ["inspect", "checkpoint", team, "--ns", "expert:nobody"],
    ["inspect", "state", chat, "--checkpoint", "-2"],
    ["inspect", "state", chat, "--checkpoint", "1"],
    ["inspect", "state", chat, "--path", "messages[-1].content"],
    ["inspect", "state", chat, "--path", "messages[99]"],
    ["inspect", "state", empty, "--checkpoint", "-1"],
    ["history", chat, "--run", run, "--reverse"],
    ["history", chat, "--node", "reply"],
    ["history", chat, "--before", fork, "--limit", "1"],
    ["history", fan, "--limit", "none"],
    ["history", NOBODY],
    ["replay", chat, "--checkpoint", "0", "--to", "1"],
    ["replay", fan, "--changed-only"],
    ["replay", NOBODY],
    ["diff", `${chat}@${fork}`, chat],
    ["diff", `${chat}@0`, `${chat}@-1`, "--format", "json-patch", "--path", "messages"],
    ["diff", `${fan}@0`, fan, "--ignore", "topics", "--exit-code"],
    ["diff", vault, vault, "--exit-code"],
    ["diff", NOBODY, chat],
    ["graph", "--thread", asking],
    ["graph", "--thread", team, "--xray"],
    ["graph", "--thread", fan, "--format", "mermaid"],
    ["graph", "--thread", NOBODY],
    ["graph"],
    ["graph", "team", "--xray"],
    ["schemas"],
    ["schemas", "team"],
    ["schemas", "vault", "--format", "ts"],
    ["schemas", "--kind", "input"],
    ["schemas", "--kind", "nothing"],
    ["export", chat, "--redact", "messages[*].content"],
    ["export", NOBODY],
    ["export", chat, "--redact", "a["],
  ];
}

/** Commands that change something, in this order. */
export function changes({ threads, fork }: EveryKind): string[][] {
  const { chat, asking, failed, team, fan, odd, empty, vault } = threads;
  const fresh = "0198c0de-0000-7000-8000-00000000beef";
  return [
    ["threads", "create", "--id", fresh, "--metadata", "b=1", "--metadata", "a=two", "--ttl", "60"],
    ["threads", "create", "--id", fresh],
    ["threads", "create", "--id", fresh, "--if-exists", "do_nothing"],
    ["threads", "create", "--metadata", "b"],
    ["threads", "patch", fresh, "--metadata", "seen=true"],
    ["threads", "patch", NOBODY, "--metadata", "seen=true"],
    ["fork", chat],
    ["fork", chat, "--checkpoint", fork],
    ["fork", chat, "--checkpoint", "0"],
    ["fork", team],
    ["fork", chat, "--checkpoint", "99"],
    ["fork", NOBODY],
    ["fork", chat],
    [
      "fork",
      chat,
      "--checkpoint",
      fork,
      "--values",
      '{"messages":[{"role":"user","content":"else","id":"e"}]}',
      "--as-node",
      "reply",
    ],
    ["fork", chat, "--checkpoint", fork, "--branch"],
    ["fork", fan],
    ["fork", empty],
    ["fork", asking, "--values", "[1"],
    ["fork", asking, "--values", "{}", "--as-node", "nobody"],
    ["state", "set", odd, "--values", '{"n":7}', "--as-node", "fill"],
    ["state", "set", vault, "--values", '{"n":7}', "--checkpoint", "0"],
    ["state", "set", odd, "--values", '{"n":7}', "--as-node", "nobody"],
    ["state", "set", NOBODY, "--values", "{}"],
    ["history", odd],
    ["inspect", "thread", odd],
    ["threads", "delete", failed, "--yes"],
    ["threads", "delete", failed, "--yes"],
    ["inspect", "thread", failed],
    ["runs", "list", failed],
    ["threads", "prune", "--older-than", "0s", "--status", "interrupted", "--dry-run"],
    ["threads", "prune", "--older-than", "0s", "--metadata", "seen=true", "--yes"],
    ["inspect", "thread", fresh],
    ["threads", "list", "--limit", "50", "--sort", "thread_id:asc"],
  ];
}

/** Numbers the ids and times created by the source in order of appearance. */
export class Made {
  readonly #known: ReadonlySet<string>;
  readonly #numbers = new Map<string, number>();

  /** @param known Output that contains the ids and times common to all sources. */
  constructor(known: string) {
    this.#known = new Set(known.match(MADE) ?? []);
  }

  numbered({ code, stdout, stderr }: CliResult): CliResult {
    return { code, stdout: this.#number(stdout), stderr: this.#number(stderr) };
  }

  #number(text: string): string {
    return text.replace(MADE, (found) => {
      if (this.#known.has(found)) return found;
      if (found.includes("T")) return "<time>";
      const number = this.#numbers.get(found) ?? this.#numbers.size;
      this.#numbers.set(found, number);
      return `<id ${number}>`;
    });
  }
}

const MADE =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
