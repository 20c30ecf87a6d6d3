/** Keys with characters that are special in some databases. */
export const ODD_KEYS = { $where: "1", "a.b": { $gt: "" }, "": "empty", 'q"': "'; --", constructor: 1 };

/** A run of the chat graph. */
export const say = (content: string) => ({
  assistant_id: "chat",
  input: { messages: [{ role: "user", content, id: `said-${content}` }] },
});
