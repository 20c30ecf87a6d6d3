/** Recognizes the channels of a LangGraph state by name. */

/** LangGraph's internal channels: node triggers and sends. Also used as a pattern in PostgreSQL. */
export const OWN_CHANNELS = /^(__|branch:|join:)/;

/** True for a channel of a state key, false for an internal channel. */
export const isStateChannel = (name: string): boolean => !OWN_CHANNELS.test(name);

/** Channel of the questions that a task asks. */
export const INTERRUPT = "__interrupt__";

/** Channel of the calls that nodes make to other nodes. */
export const SENDS = "__pregel_tasks";

/** Prefix of the channel of a node that waits for several nodes: `join:<node>+<node>:<waiting node>`. */
export const JOIN = "join:";
