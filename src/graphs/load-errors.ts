/** Turns whatever evaluating a graph module throws into an error that says what, where, why and how to fix it. */
import { GraphLoadError, errorMessage, errorName } from "../errors.js";
import { ownFrame, shownPath, type FaultyModule } from "./fault-location.js";
import { importNotFound, missingImport, suggestFiles } from "./missing-import.js";
import { syntaxError, syntaxFault } from "./syntax-fault.js";

/** An error for a graph file that is not there, with the files of its folder that may have been meant. */
export function fileNotFound(path: string, baseDir: string): GraphLoadError {
  const hint =
    suggestFiles(path, baseDir) ?? "check the path; it is resolved from the folder of the configuration";
  return new GraphLoadError(`graph file ${shownPath(path, baseDir)} not found`, { hint });
}

export function unsupportedExtension(path: string, baseDir: string): GraphLoadError {
  return new GraphLoadError(`${shownPath(path, baseDir)} is no JavaScript or TypeScript file`, {
    hint: "name a .ts, .tsx, .mts, .cts, .js, .mjs or .cjs file",
  });
}

/** What evaluating the module threw, as a GraphLoadError. */
export async function evaluationError(error: unknown, module: FaultyModule): Promise<GraphLoadError> {
  if (error instanceof GraphLoadError) return error;
  const missing = missingImport(error);
  if (missing) return importNotFound(missing, error, module);
  const syntax = await syntaxFault(error, module);
  if (syntax) return syntaxError(syntax, error, module);
  return thrown(`${module.source} throws when it is imported`, error, module);
}

/** What calling a graph factory threw, or why its result is no graph. */
export function factoryError(error: unknown, module: FaultyModule): GraphLoadError {
  if (error instanceof GraphLoadError) return error;
  return thrown(`the factory ${module.source} throws`, error, module);
}

function thrown(what: string, error: unknown, module: FaultyModule): GraphLoadError {
  const location = ownFrame(error, module.files);
  const at = location ? `${shownPath(location.file, module.baseDir)}:${location.line}` : module.source;
  return new GraphLoadError(`${what}\n${errorName(error)}: ${errorMessage(error)}`, {
    hint: `put right what ${at} does`,
    cause: error,
    ...(location && { location }),
  });
}
