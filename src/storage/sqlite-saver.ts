import type { Database, Statement } from "better-sqlite3";
import type { SqliteSaver } from "@langchain/langgraph-checkpoint-sqlite";
import type { CheckpointKey } from "./checkpointer.js";
import { textSerializer } from "./serializer.js";

type SaverClass = new (db: Database) => SqliteSaver;

/** The official saver on our database, its tables made: until then its `deleteThread` throws. */
export function createSaver(Saver: SaverClass, db: Database): SqliteSaver {
  const saver = new Saver(withStatementCache(db));
  saver.serde = textSerializer(saver.serde);
  (saver as unknown as { setup(): void }).setup();
  return saver;
}

/** The saver prepares its inserts anew for every call; their text is the same, so they are kept here. */
function withStatementCache(db: Database): Database {
  const inserts = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    if (!/^\s*INSERT/.test(sql)) return db.prepare(sql);
    const statement = inserts.get(sql) ?? db.prepare(sql);
    inserts.set(sql, statement);
    return statement;
  };
  return Object.create(db, { prepare: { value: prepare } }) as Database;
}

/** Deletes checkpoints and writes as `WrapOptions.keepOnly` says. */
export function keepOnly(db: Database): (threadId: string, keep: readonly CheckpointKey[]) => void {
  const isKept = (id: string) =>
    `(checkpoint_ns, ${id}) IN (SELECT value ->> 'checkpoint_ns', value ->> 'checkpoint_id' FROM json_each(@keep))`;
  const statements = [
    `DELETE FROM checkpoints WHERE thread_id = @threadId AND NOT ${isKept("checkpoint_id")}`,
    `DELETE FROM writes WHERE thread_id = @threadId AND NOT ${isKept("checkpoint_id")}`,
    `UPDATE checkpoints SET parent_checkpoint_id = NULL
     WHERE thread_id = @threadId AND parent_checkpoint_id IS NOT NULL AND NOT ${isKept("parent_checkpoint_id")}`,
  ].map((sql) => db.prepare(sql));
  const run = db.transaction((params: { threadId: string; keep: string }) => {
    for (const statement of statements) statement.run(params);
  });
  return (threadId, keep) => run.immediate({ threadId, keep: JSON.stringify(keep) });
}
