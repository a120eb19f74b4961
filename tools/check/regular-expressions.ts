/**
 * `node tools/check/regular-expressions.ts` rejects regular expressions with super-linear time, since callers choose
 * the length of most texts. An exception needs a reason on its line or the line before: `// super-linear: at most 200
 * characters`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { type Expression, findSuperLinear } from './super-linear.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const folders = ['cli', 'clients', 'libs', 'services'];
const excuse = /\/\/ super-linear: \S/;

interface Found extends Expression {
  readonly start: number;
}

interface Node {
  readonly [key: string]: unknown;
  readonly type?: string;
}

/** @returns one line per super-linear expression without a reason */
export function findProblems(file: string, text: string): string[] {
  const lines = text.split('\n');
  return listExpressions(file, text).flatMap(({ source, flags, start }) => {
    const problem = findSuperLinear({ source, flags });
    const line = text.slice(0, start).split('\n').length;
    const isExcused = [lines[line - 1], lines[line - 2]].some((one) => excuse.test(one ?? ''));
    return problem === undefined || isExcused ? [] : [`${file}:${line}: /${source}/${flags} ${problem}`];
  });
}

/** Lists regular expression literals, arguments of `RegExp`, and patterns of schemas. */
function listExpressions(file: string, text: string): Found[] {
  const found: Found[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node;
    const expression = readExpression(node);
    if (expression !== undefined) found.push({ ...expression, start: node['start'] as number });
    for (const key in node) visit(node[key]);
  };
  visit(parseSync(file, text).program);
  return found;
}

function readExpression(node: Node): Expression | undefined {
  const { regex, callee, key } = node as { regex?: { pattern: string; flags: string }; callee?: Node; key?: Node };
  if (node.type === 'Literal' && regex !== undefined) return { source: regex.pattern, flags: regex.flags };
  if (node.type === 'Property' && key?.['name'] === 'pattern') return readText(node['value'] as Node, 'u');
  if ((node.type === 'NewExpression' || node.type === 'CallExpression') && callee?.['name'] === 'RegExp') {
    const [source, flags] = node['arguments'] as Node[];
    return source === undefined
      ? undefined
      : readText(source, typeof flags?.['value'] === 'string' ? flags['value'] : '');
  }
  return undefined;
}

/** Returns the text of a literal pattern; returns undefined for a computed pattern, which is not checked. */
function readText(node: Node, flags: string): Expression | undefined {
  return node.type === 'Literal' && typeof node['value'] === 'string' ? { source: node['value'], flags } : undefined;
}

if (import.meta.main) {
  const files = folders.flatMap((folder) =>
    readdirSync(join(repoDir, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:ts|js|mjs)$/.test(name) && !/\.(?:test|d)\.ts$|node_modules/.test(name))
      .map((name) => join(folder, name)),
  );
  const problems = files.flatMap((file) => findProblems(file, readFileSync(join(repoDir, file), 'utf8')));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
