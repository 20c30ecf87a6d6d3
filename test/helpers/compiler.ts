/** What the TypeScript compiler says of text that stands in no file. */
import { join } from "node:path";
import ts from "typescript";

/** Where the text would stand: imports of packages lead into this checkout. */
const FILE = join(import.meta.dirname, "compiled.ts");
const OPTIONS: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  types: [],
};
/** Reading the standard library's types costs more than what is compiled. */
const read = new Map<string, ts.SourceFile | undefined>();

/** The text of each error; `lib` names the standard types that are known, else they are those of a browser. */
export function compile(text: string, lib?: string[]): string[] {
  const options = { ...OPTIONS, ...(lib && { lib }) };
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => name === FILE || disk.fileExists(name),
    readFile: (name) => (name === FILE ? text : disk.readFile(name)),
    getSourceFile: (name, version) => {
      if (name === FILE) return ts.createSourceFile(name, text, version);
      if (!read.has(name)) read.set(name, disk.getSourceFile(name, version));
      return read.get(name);
    },
  };
  return ts
    .getPreEmitDiagnostics(ts.createProgram([FILE], options, host))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
