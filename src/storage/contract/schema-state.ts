/** What the tables or documents of a storage stand at. */
export interface SchemaPart {
  /** `rows` are those of threads and runs, `checkpoints` what LangGraph's own saver made; others have one part. */
  name: "rows" | "checkpoints" | "tables" | "documents";
  /** 0 when they are not there. */
  version: number;
  /** What this release reads and writes. */
  wanted: number;
}

export interface SchemaState {
  /** Safe to print. */
  location?: string;
  /** Empty for a storage without versions. */
  parts: SchemaPart[];
}
