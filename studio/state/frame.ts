/** An event of a run's stream. */
export interface Frame {
  /** Counts up from 0; -1 if the event has no id. */
  id: number;
  /** Stream mode, with a namespace for subgraphs: `messages|child:UUID`. */
  event: string;
  data: unknown;
}

export interface MessageLike {
  type: string;
  content: unknown;
  [field: string]: unknown;
}
