/** The error of a task, `{"message", "name"}` as JSON text, in one line. */
export function errorLine(text: string): string {
  try {
    const { name, message } = JSON.parse(text) as { name?: string; message?: string };
    return message === undefined ? text : [name, message].filter(Boolean).join(": ");
  } catch {
    return text;
  }
}
