/**
 * Finds wording that reads as a translation, in comments, strings, test titles and Markdown.
 *
 *   node scripts/check-words.mjs            fails on more findings in a file than scripts/words-allowed.json allows
 *   node scripts/check-words.mjs --list     prints every finding with its line
 *   node scripts/check-words.mjs --rates    prints findings per 1,000 words of each kind
 *   node scripts/check-words.mjs --update   lowers the allowances to what is there; never raises one
 *
 * File names after the flags restrict the check to them.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import ts from "typescript";

const ROOT = join(import.meta.dirname, "..");
const ALLOWED = join(ROOT, "scripts/words-allowed.json");
/** Documents that quote other people's words, and this list itself. */
const SKIPPED =
  /^(docs\/specification\.md|CHANGELOG\.md|CONTRIBUTING\.md|scripts\/check-words\.mjs|test\/fixtures\/|LICENSE)/;
const CODE = /\.(ts|tsx|mts|mjs|js)$/;

/** Each pattern is wording that has a plain equivalent; see CONTRIBUTING.md. */
const PATTERNS = [
  /\b(tell|tells|told|telling)\b/gi,
  /\banew\b/gi,
  /\b(whoever|nobody|whosoever)\b/gi,
  /\b(go|goes|going|went|gone) on\b/gi,
  /\b(give|gives|given|gave) back\b/gi,
  /\b(seen|sees|saw|see) to\b(?! be)/gi,
  /\b(stood|stands?) (in|for|beside|there|still|under|among|as|at|apart|above|below|between|over)\b/gi,
  /(?<!\b(?:there|that|where) )\b(is|are|was|were) no\b(?! longer| more than| less than| fewer than)/gi,
  /\b(that|which|who|one) is none\b/gi,
  /\b(hear|hears|heard) (of|that|it|this|from)\b/gi,
  /\b(called|calls|call) off\b/gi,
  /\b(put|puts|putting) right\b/gi,
  /\b(be|is|are|was) had\b/gi,
  /\bat (its|their) time\b|\bits time (was|is) up\b|\bby the clock\b/gi,
  /\bhow soon\b/gi,
  /\borderly end\b/gi,
  /\b(brought|bring|brings) up to date\b/gi,
  /\b(taken|takes|take|took) (up|over) (by|from) who/gi,
  /\b(of|from|to|by) (one|those|them) (that|who) (is|are|has|have)\b/gi,
  /\bwhat it is\b/gi,
  /\bthe (more|less) so\b|\bto the letter\b|\bin the place of\b|\ball the same\b|\bfor good\b/gi,
  /\b(nothing|none|no one) (else )?(but|beside)\b/gi,
  /\bas it (stands|stood)\b/gi,
];

const print = (line) => process.stdout.write(`${line}\n`);

const kinds = ["comments", "strings", "titles", "markdown"];
const TITLE_CALLS = /^(it|test|describe|suite)\b/;

const isStringPart = (node) =>
  ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
const isProse = (text) => /[a-z]+ [a-z]+/i.test(text);

/** The passages of a source file, each with its kind and offset. */
function codePassages(file, text) {
  const tree = ts.createSourceFile(
    file,
    text,
    ts.ScriptTarget.ESNext,
    true,
    file.endsWith("x") ? ts.ScriptKind.TSX : undefined,
  );
  const passages = new Map();
  const add = (kind, pos, end) => passages.set(pos, { kind, pos, text: text.slice(pos, end) });
  const isTitle = (node) => {
    const call = node.parent;
    return (
      call &&
      ts.isCallExpression(call) &&
      call.arguments[0] === node &&
      TITLE_CALLS.test(call.expression.getText(tree))
    );
  };
  const visit = (node) => {
    const at = node.getFullStart();
    for (const range of ts.getLeadingCommentRanges(text, at) ?? []) add("comments", range.pos, range.end);
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? [])
      add("comments", range.pos, range.end);
    if (isTitle(node)) add("titles", node.getStart(tree), node.getEnd());
    else if (isStringPart(node) && isProse(node.text)) add("strings", node.getStart(tree), node.getEnd());
    else if (ts.isJsxText(node) && isProse(node.text)) add("strings", node.getStart(tree), node.getEnd());
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...passages.values()];
}

/** Markdown without what stands in code blocks and spans. */
function markdownPassages(text) {
  const blank = (match) => match.replace(/[^\n]/g, " ");
  return [
    {
      kind: "markdown",
      pos: 0,
      text: text.replace(/^```[\s\S]*?^```/gm, blank).replace(/`[^`\n]*`/g, blank),
    },
  ];
}

function findingsOf(file) {
  const text = readFileSync(join(ROOT, file), "utf8");
  const passages = CODE.test(file) ? codePassages(file, text) : markdownPassages(text);
  const words = Object.fromEntries(kinds.map((kind) => [kind, 0]));
  const found = [];
  for (const passage of passages) {
    words[passage.kind] += passage.text.match(/[A-Za-z']+/g)?.length ?? 0;
    for (const pattern of PATTERNS) {
      for (const match of passage.text.replace(/\n\s*(\*|\/\/)?/g, blankBreak).matchAll(pattern)) {
        const line = text.slice(0, passage.pos + match.index).split("\n").length;
        found.push({ file, line, kind: passage.kind, match: match[0] });
      }
    }
  }
  return { file, words, found };
}

/** A line break with its margin becomes spaces of the same length, and one of them a single space to match across lines. */
const blankBreak = (breaks) => " ".padEnd(breaks.length, "\u200b");

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: "boolean" }, rates: { type: "boolean" }, update: { type: "boolean" } },
});
const tracked = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" })
  .split("\n")
  .filter((file) => existsSync(join(ROOT, file)));
const files = (positionals.length > 0 ? positionals : tracked).filter(
  (file) => !SKIPPED.test(file) && (CODE.test(file) || file.endsWith(".md")),
);
const results = files.map(findingsOf);

if (flags.list) {
  for (const { found } of results)
    for (const { file, line, kind, match } of found) print(`${file}:${line} ${kind}: ${match}`);
} else if (flags.rates) {
  for (const kind of kinds) {
    const words = results.reduce((sum, one) => sum + one.words[kind], 0);
    const count = results.reduce(
      (sum, { found }) => sum + found.filter((one) => one.kind === kind).length,
      0,
    );
    print(
      `${kind.padEnd(9)} ${((1000 * count) / (words || 1)).toFixed(2)} per 1,000 words (${count} in ${words})`,
    );
  }
} else {
  const allowed = JSON.parse(readFileSync(ALLOWED, "utf8"));
  if (flags.update) {
    const lowered = results
      .map(({ file, found }) => [file, Math.min(found.length, allowed[file] ?? 0)])
      .filter(([, count]) => count > 0);
    writeFileSync(ALLOWED, JSON.stringify(Object.fromEntries(lowered), null, 2) + "\n");
  } else {
    const over = results.filter(({ file, found }) => found.length > (allowed[file] ?? 0));
    for (const { file, found } of over) {
      print(`${file}: ${found.length} findings, ${allowed[file] ?? 0} allowed`);
      for (const { line, kind, match } of found) print(`  ${file}:${line} ${kind}: "${match}"`);
    }
    if (over.length > 0) print("Use plain words: CONTRIBUTING.md has the table.");
    process.exitCode = over.length > 0 ? 1 : 0;
  }
}
