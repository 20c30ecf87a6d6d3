/** Reads the docstrings of exported symbols, and type-checks and runs their examples. */
import { dirname, join } from "node:path";
import ts from "typescript";

const ROOT = join(import.meta.dirname, "../..");
/** Examples are compiled as files of this folder, so that they can import its modules. */
const FOLDER = join(ROOT, "test/fixtures/docstrings");

/** A symbol that an index file exports. */
export interface ExportedSymbol {
  /** Module and name, such as `graph-serve/testing runCases`. */
  id: string;
  /** First paragraph of the docstring; empty if there is none. */
  summary: string;
  examples: string[];
  /** Tags of the docstring, other than @example. */
  tags: { name: string; text: string }[];
  /** Functions only: number of parameters, and whether the result is void. */
  call?: { parameters: number; isVoid: boolean };
}

/** One example, compiled as a file of its own. */
export interface Example {
  /** Symbol, and the number of the example if it has several. */
  title: string;
  file: string;
  code: string;
}

const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile.bind(ts.sys)).config,
  ts.sys,
  ROOT,
);

/** Files on disk that were parsed, and the latest program: shared by all programs until the examples are compiled. */
const parsed = new Map<string, ts.SourceFile | undefined>();
let previous: ts.Program | undefined;

/** Creates a program of files on disk and virtual files. Files on disk are read, parsed and resolved once. */
function createProgram(
  modules: Readonly<Record<string, string>>,
  virtual: ReadonlyMap<string, string> = new Map(),
): ts.Program {
  const sources = Object.values(modules).map((file) => join(ROOT, file));
  const paths = Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, [join(ROOT, file)]]));
  const all = { ...options, paths, noUnusedLocals: false, noUnusedParameters: false };
  const disk = ts.createCompilerHost(all);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (name) => virtual.has(name) || disk.fileExists(name),
    readFile: (name) => virtual.get(name) ?? disk.readFile(name),
    getSourceFile: (name, version) => {
      const text = virtual.get(name);
      if (text !== undefined) return ts.createSourceFile(name, text, version);
      if (!parsed.has(name)) parsed.set(name, disk.getSourceFile(name, version));
      return parsed.get(name);
    },
  };
  previous = ts.createProgram([...sources, ...virtual.keys()], all, host, previous);
  return previous;
}

/** The exports of index files, by the module name that users import. */
export function exportedSymbols(modules: Readonly<Record<string, string>>): ExportedSymbol[] {
  const program = createProgram(modules);
  const checker = program.getTypeChecker();
  return Object.entries(modules).flatMap(([module, file]) => {
    const source = program.getSourceFile(join(ROOT, file));
    const index = source && checker.getSymbolAtLocation(source);
    if (!index) throw new Error(`${file} exports nothing`);
    return checker
      .getExportsOfModule(index)
      .map((symbol) => describeExport(`${module} ${symbol.name}`, symbol, checker));
  });
}

function describeExport(id: string, exported: ts.Symbol, checker: ts.TypeChecker): ExportedSymbol {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const docs = (symbol.declarations ?? []).flatMap((declaration) =>
    ts.getJSDocCommentsAndTags(declaration).filter(ts.isJSDoc),
  );
  const tags = docs.flatMap((doc) => (doc.tags ?? []).map((tag) => ({ name: tag.tagName.text, tag })));
  const call = (symbol.declarations ?? []).map((declaration) => functionOf(declaration)).find(Boolean);
  return {
    id,
    summary: docs
      .map(({ comment }) => ts.getTextOfJSDocComment(comment) ?? "")
      .join("\n")
      .trim(),
    examples: tags.filter(({ name }) => name === "example").map(({ tag }) => exampleCode(tag, id)),
    tags: tags
      .filter(({ name }) => name !== "example")
      .map(({ name, tag }) => ({ name, text: ts.getTextOfJSDocComment(tag.comment) ?? "" })),
    ...(call && { call: { parameters: call.parameters.length, isVoid: returnsVoid(call, checker) } }),
  };
}

function functionOf(declaration: ts.Declaration): ts.SignatureDeclaration | undefined {
  if (ts.isFunctionDeclaration(declaration)) return declaration;
  if (!ts.isVariableDeclaration(declaration) || !declaration.initializer) return undefined;
  return ts.isArrowFunction(declaration.initializer) ? declaration.initializer : undefined;
}

function returnsVoid(declaration: ts.SignatureDeclaration, checker: ts.TypeChecker): boolean {
  const signature = checker.getSignatureFromDeclaration(declaration);
  return /^(void|Promise<void>)$/.test(signature ? checker.typeToString(signature.getReturnType()) : "");
}

/** The code of an @example tag, without fence and margin. */
function exampleCode(tag: ts.JSDocTag, id: string): string {
  const lines = tag
    .getText()
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trimEnd());
  const fenced = /^@example\n```ts\n([\s\S]+)\n```$/.exec(lines.join("\n").trim());
  if (!fenced?.[1]) throw new Error(`the example of ${id} is not a fenced ts block:\n${lines.join("\n")}`);
  return `${fenced[1]}\n`;
}

/** An example, and the virtual file that it is compiled as. */
export const exampleOf = (title: string, code: string): Example => ({
  title,
  file: join(FOLDER, `${title.replaceAll(/\W+/g, "-")}.ts`),
  code,
});

/** All examples of the symbols. */
export function examplesOf(symbols: readonly ExportedSymbol[]): Example[] {
  return symbols.flatMap(({ id, examples }) =>
    examples.map((code, index) => exampleOf(examples.length > 1 ? `${id} ${index + 1}` : id, code)),
  );
}

/** Errors of the compiler in the examples, with the modules mapped to their sources. */
export function compileExamples(
  examples: readonly Example[],
  modules: Readonly<Record<string, string>>,
): string[] {
  const virtual = new Map(examples.map(({ file, code }) => [file, code]));
  const program = createProgram(modules, virtual);
  const errors = examples.flatMap(({ file, title }) => {
    const source = program.getSourceFile(file);
    return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)].map(
      ({ start, messageText }) => {
        const line = source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0;
        return `${title}, line ${line + 1}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
      },
    );
  });
  parsed.clear();
  previous = undefined;
  return errors;
}

/** Number of results that an example states: `expression; // => value`. */
export const statedResults = (code: string): number => code.match(/\/\/ =>/g)?.length ?? 0;

const AsyncFunction = (async () => undefined).constructor as new (
  ...parts: string[]
) => (...values: unknown[]) => Promise<void>;

/**
 * Runs an example. Calls `check` with the number of each stated result, the value of its expression and the stated value.
 * `modules` loads what the example imports; relative paths are those of the folder of the fixtures.
 */
export async function runExample(
  { file, code }: Example,
  load: (specifier: string) => Promise<object>,
  check: (index: number, actual: unknown, stated: unknown) => void,
): Promise<void> {
  const { outputText } = ts.transpileModule(withChecks(file, code), {
    compilerOptions: {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.CommonJS,
      esModuleInterop: true,
    },
  });
  const loaded = new Map<string, object>();
  for (const { fileName } of ts.preProcessFile(code).importedFiles) {
    loaded.set(fileName, { ...(await load(fileName)), __esModule: true });
  }
  const body = outputText.replaceAll("import.meta.dirname", "__dirname");
  const run = new AsyncFunction("require", "exports", "__dirname", "__check", body);
  await run((name: string) => loaded.get(name), {}, dirname(file), check);
}

/** Replaces `expression; // => value` by a call of `__check`. */
function withChecks(file: string, code: string): string {
  const tree = ts.createSourceFile(file, code, ts.ScriptTarget.ESNext, true);
  const found: { start: number; end: number; text: string }[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isExpressionStatement(node)) return;
    const [comment] = ts.getTrailingCommentRanges(code, node.end) ?? [];
    const stated = comment && /^\/\/ => (.+)$/.exec(code.slice(comment.pos, comment.end))?.[1];
    if (!stated) return;
    const text = `__check(${found.length}, (${node.expression.getText(tree)}), (${stated}));`;
    found.push({ start: node.getStart(tree), end: comment.end, text });
  };
  visit(tree);
  return found
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end, text: call }) => text.slice(0, start) + call + text.slice(end), code);
}
