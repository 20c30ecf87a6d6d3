/** Lists the source files with their imports, for the architecture test. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import ts from "typescript";

export interface Import {
  from: string;
  /** A file of the tree, or a package specifier. */
  to: string;
  /** A dynamic `import()`. */
  isLazy: boolean;
  isTypeOnly: boolean;
}

export interface Source {
  /** Path relative to the folder, with slashes. */
  file: string;
  /** Number of lines, without the examples in docstrings. */
  lines: number;
  imports: Import[];
  hasDefaultExport: boolean;
  /** Lines that contain the type `any`. */
  anyLines: number[];
}

/** All TypeScript files below `folder`, sorted by name. */
export function readSourceTree(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.tsx?$/.test(path))
    .sort()
    .map((file) => parse(file, readFileSync(join(folder, file), "utf8")));
}

/** An example in a docstring at the top level of a file. */
const EXAMPLE = /^ \* @example\n \* ```ts\n[^]*?^ \* ```\n/gm;

function parse(file: string, text: string): Source {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true);
  const lines = text.replace(EXAMPLE, "").trimEnd().split("\n").length;
  const source: Source = { file, lines, imports: [], hasDefaultExport: false, anyLines: [] };
  const visit = (node: ts.Node): void => {
    source.imports.push(...importsAt(node, file));
    source.hasDefaultExport ||= isDefaultExport(node);
    if (node.kind === ts.SyntaxKind.AnyKeyword) {
      source.anyLines.push(tree.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return source;
}

function importsAt(node: ts.Node, from: string): Import[] {
  const made = (specifier: ts.Node | undefined, isTypeOnly: boolean, isLazy = false): Import[] =>
    specifier && ts.isStringLiteralLike(specifier)
      ? [{ from, to: resolve(from, specifier.text), isLazy, isTypeOnly }]
      : [];
  if (ts.isImportDeclaration(node)) return made(node.moduleSpecifier, onlyTypes(node.importClause));
  if (ts.isExportDeclaration(node)) return made(node.moduleSpecifier, node.isTypeOnly);
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
    return made(node.argument.literal, true);
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return made(node.arguments[0], false, true);
  }
  return [];
}

function onlyTypes(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const bindings = clause.namedBindings;
  const names = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
  return clause.name === undefined && names.length > 0 && names.every((name) => name.isTypeOnly);
}

function isDefaultExport(node: ts.Node): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportSpecifier(node)) return node.name.text === "default";
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false)
  );
}

function resolve(from: string, specifier: string): string {
  if (!specifier.startsWith(".")) return specifier;
  return posix.join(posix.dirname(from), specifier).replace(/\.js(x?)$/, ".ts$1");
}
