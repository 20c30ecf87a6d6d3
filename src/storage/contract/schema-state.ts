/** The schema version of one part of a storage. */
export interface SchemaPart {
  /** PostgreSQL has two parts: `rows` for threads and runs, `checkpoints` for the tables of LangGraph's own saver. */
  name: "rows" | "checkpoints" | "tables" | "documents";
  /** 0 if the tables or documents do not exist. */
  version: number;
  /** The version that this release reads and writes. */
  wanted: number;
}

export interface SchemaState {
  /** Address without credentials, safe to print. */
  location?: string;
  /** Empty for a storage without schema versions. */
  parts: SchemaPart[];
}
