/** Channels of a LangGraph state, by their names. */

/** LangGraph's own: what triggers nodes, what was sent to them. PostgreSQL reads this pattern too. */
export const OWN_CHANNELS = /^(__|branch:|join:)/;

/** True for a channel that holds a key of the state, false for LangGraph's own. */
export const isStateChannel = (name: string): boolean => !OWN_CHANNELS.test(name);
