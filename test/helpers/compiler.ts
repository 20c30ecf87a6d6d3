/** Compiles TypeScript text in memory and returns its errors. */
import { join } from "node:path";
import ts from "typescript";

/** A virtual path in this checkout, so that imports of packages resolve. */
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
/** Parsing the standard library types takes longer than compiling the text. */
const read = new Map<string, ts.SourceFile | undefined>();

/** Error messages of the compiler. `lib` lists the standard type libraries; the default is that of a browser. */
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
