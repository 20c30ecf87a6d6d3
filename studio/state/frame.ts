/** What comes over the wire, as far as the page looks at it. */

/** An event of a run's stream. */
export interface Frame {
  /** Counts up from 0; -1 where the stream does not say. */
  id: number;
  /** A stream mode, and of a subgraph its namespace: `messages|child:UUID`. */
  event: string;
  data: unknown;
}

export interface MessageLike {
  type: string;
  content: unknown;
  [field: string]: unknown;
}
