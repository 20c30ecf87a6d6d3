/** Files of a graph module that do not parse. */
import { extname } from "node:path";
import { GraphLoadError } from "../errors.js";
import { locate, plainPath, readText, shownPath, type FaultyModule } from "./fault-location.js";
import { createLoader, isTypeScript } from "./module-loader.js";

export function syntaxError(fault: SyntaxFault, cause: unknown, module: FaultyModule): GraphLoadError {
  const location = locate(fault.file, fault.line, fault.column);
  const at = `${shownPath(fault.file, module.baseDir)}:${fault.line}`;
  return new GraphLoadError(`syntax error in ${at}: ${fault.message}`, {
    hint: `correct ${at}`,
    location,
    cause,
  });
}

export interface SyntaxFault {
  message: string;
  file: string;
  line: number;
  column?: number;
}

export async function syntaxFault(error: unknown, module: FaultyModule): Promise<SyntaxFault | undefined> {
  if (!(error instanceof Error)) return undefined;
  const parsed = parseFault(error.message);
  if (parsed) return parsed;
  if (!(error instanceof SyntaxError)) return undefined;
  const [, url, line] = /^(file:.+?|\/.+?):(\d+)\n/.exec(error.stack ?? "") ?? [];
  if (url !== undefined) return { message: error.message, file: plainPath(url), line: Number(line) };
  return findFault(module.files);
}

/** The form in which jiti reports a file that does not parse. */
function parseFault(message: string): SyntaxFault | undefined {
  const match = /^(?:\w*Error|undefined): ([^]*?)\s*\n (.+):(\d+):(\d+)$/.exec(message);
  if (!match) return undefined;
  const [, what = "", file = "", line, column] = match;
  return { message: what, file, line: Number(line), column: Number(column) + 1 };
}

/** Node does not say where an ES module fails to parse: parse the files until one fails. */
async function findFault(files: readonly string[]): Promise<SyntaxFault | undefined> {
  for (const file of files.filter((each) => extname(each) !== ".json")) {
    const { transform } = await createLoader(file);
    const code = transform({ source: readText(file), filename: file, async: true, ts: isTypeScript(file) });
    const fault = /__JITI_ERROR__ = (\{.*\})/.exec(code)?.[1];
    if (fault === undefined) continue;
    const { message, line, column } = JSON.parse(fault) as { message: string; line: number; column: number };
    return { message: message.trim(), file, line, column: column + 1 };
  }
  return undefined;
}
