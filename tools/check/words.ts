/**
 * `node tools/check/words.ts`: rejects the words that docs/glossary.md lists as not used, in declared names, file
 * names, log messages, error messages, and in the texts of the API, the CLI and the pages. `--list` prints the hits
 * without failing, `--count` their number per replacement. `--at-most N` allows N hits while the code is being cleaned
 * up.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'oxc-parser';
import { repoDir } from './commands.ts';

export interface Vocabulary {
  /**
   * Unused word → replacement, compared with the words of camelCase names: the words of `holder` do not include `hold`.
   */
  readonly parts: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, string>;
  /** Unused phrase → replacement, compared with sentences, usually case-insensitively. */
  readonly phrases: ReadonlyMap<string, string>;
}

interface Node {
  readonly [key: string]: unknown;
  readonly type?: string;
  readonly start: number;
}

/** Allowed names with their reasons. A name that ends with `…` is a prefix. */
const allowed: Readonly<Record<string, string>> = {
  'SayInThread…': 'operation of the API',
  'sayInThread…': 'operation of the API',
  'LookUp…': 'operations between services',
  'lookUp…': 'operations between services',
  gone: 'field of the output of `people merge` and `doctor --after-restore`',
  keep: 'field of the output of `people merge`',
  mostValues: 'field of the settings in the chart',
  BookingGuest: 'the term of Cal.com',
  bookingGuest: 'the term of Cal.com',
  beginTransaction: 'method of a Kysely driver',
  lookAheadSeconds: 'look-ahead is the term of the field',
};

/** User-facing texts: contracts and routes, command line, pages. */
const textFiles = /contract|routes\/|story\/|^cli\/|-page\/|introduction|declarations|^tools\/start\//;
const logMethod = /^(trace|debug|info|warn|error|fatal)$/;

/**
 * Reads the tables of the glossary's section of unused words: words and `names` under "Names", phrases under
 * "Sentences".
 */
export function readVocabulary(glossary: string): Vocabulary {
  const [, section = ''] = glossary.split('## Words that we do not use');
  const [names = '', sentences = ''] = section.split('### Sentences');
  const rows = (text: string): [string, string][] =>
    [...text.matchAll(/^\| (?!not\b|-)([^|]+?) \| ([^|]*?) \|$/gm)].flatMap(([, words = '', instead = '']) =>
      words.split(', ').map((word): [string, string] => [word, instead]),
    );
  const isName = ([word]: [string, string]): boolean => word.startsWith('`');
  return {
    parts: new Map(rows(names).filter((row) => !isName(row))),
    names: new Map(
      rows(names)
        .filter(isName)
        .map(([word, instead]) => [word.replaceAll('`', ''), instead]),
    ),
    phrases: new Map(rows(sentences)),
  };
}

/** @returns one line per hit: location, name or text, and the replacement */
export function findProblems(file: string, text: string, vocabulary: Vocabulary): string[] {
  const lineOf = (offset: number): number => text.slice(0, offset).split('\n').length;
  const { names, texts } = collect(file, text);
  const declared = new Set(names.map(({ value }) => value));
  const fileName = basename(file).replace(/\..*$/, '').replaceAll('-', '_');
  return [
    ...[{ value: fileName, start: 0 }, ...names].flatMap(({ value, start }) =>
      findInName(value, vocabulary, declared).map((hit) => `${file}:${lineOf(start)}: ${value}: ${hit}`),
    ),
    ...texts.flatMap(({ value, start }) =>
      findInText(value, vocabulary).map((hit) => `${file}:${lineOf(start)}: "${value.trim().slice(0, 100)}": ${hit}`),
    ),
  ];
}

function findInName(name: string, { parts, names }: Vocabulary, declared: ReadonlySet<string>): string[] {
  if (isAllowed(name)) return [];
  if (name === 'left' && declared.has('right')) return [];
  const instead = names.get(name.replace(/^#/, ''));
  if (instead !== undefined) return [`use ${instead}`];
  const words = name.match(/[A-Z]?[a-z]+/g) ?? [];
  return words.flatMap((word, index) => {
    const lower = word.toLowerCase();
    const found = parts.get(lower) ?? (index === 0 && words.length > 1 ? parts.get(`${lower}…`) : undefined);
    return found === undefined ? [] : [`"${lower}": use ${found}`];
  });
}

function isAllowed(name: string): boolean {
  return Object.keys(allowed).some((item) => (item.endsWith('…') ? name.startsWith(item.slice(0, -1)) : item === name));
}

function findInText(text: string, { phrases }: Vocabulary): string[] {
  const prose = text.replaceAll(/`[^`]*`/g, '``');
  return [...phrases].flatMap(([phrase, instead]) =>
    patternOf(phrase).test(prose) ? [`"${phrase}": use ${instead}`] : [],
  );
}

/**
 * Returns the pattern of a phrase. It does not match "There is no job" and "is no longer", which are plain English. A
 * phrase with a capital letter matches only at the start of a sentence.
 */
function patternOf(phrase: string): RegExp {
  return new RegExp(String.raw`(?<![\w-]|there )${phrase}(?![\w-]| longer)`, /^[A-Z]/.test(phrase) ? '' : 'i');
}

interface Found {
  readonly value: string;
  readonly start: number;
}

/** Collects declared names in camelCase (JSON and SQL names are in snake_case) and user-facing sentences. */
function collect(file: string, text: string): { names: Found[]; texts: Found[] } {
  const names: Found[] = [];
  const texts: Found[] = [];
  const readsAll = textFiles.test(file);
  const addName = (node: Node | null | undefined): void => {
    const name = node?.['name'];
    if (typeof name === 'string' && !name.includes('_')) names.push({ value: name, start: (node as Node).start });
  };
  const addText = (node: Node): void => {
    const value = node.type === 'TemplateElement' ? (node['value'] as { cooked?: string }).cooked : node['value'];
    if (typeof value === 'string' && /[a-z]{2,} [a-z]/i.test(value) && !isSql(value))
      texts.push({ value, start: node.start });
  };
  const visit = (value: unknown, inMessage: boolean): void => {
    if (Array.isArray(value)) for (const item of value) visit(item, inMessage);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const node = value as Node;
    for (const pattern of listDeclared(node)) visitPattern(pattern, addName);
    if (inMessage && (node.type === 'Literal' || node.type === 'TemplateElement')) addText(node);
    if (node.type === 'TaggedTemplateExpression' && /sql/i.test(String((node['tag'] as Node)['name']))) return;
    const isMessage = inMessage || isLogCall(node) || isError(node);
    for (const key in node) visit(node[key], isMessage);
  };
  visit(parseSync(file, text).program, readsAll);
  return { names, texts };
}

/** Returns the identifiers or patterns that this node declares. */
function listDeclared(node: Node): Node[] {
  const own = (): Node[] => (node['computed'] === true ? [] : [node['key'] as Node]);
  const params = Array.isArray(node['params']) ? (node['params'] as Node[]) : [];
  switch (node.type) {
    case 'VariableDeclarator':
    case 'ClassDeclaration':
    case 'TSInterfaceDeclaration':
    case 'TSTypeAliasDeclaration':
      return [node['id'] as Node];
    case 'FunctionDeclaration':
      return [node['id'] as Node, ...params];
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return params;
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'TSPropertySignature':
    case 'TSMethodSignature':
      return own();
    case 'Property':
      return ['ArrowFunctionExpression', 'FunctionExpression'].includes(String((node['value'] as Node | null)?.type))
        ? own()
        : [];
    default:
      return [];
  }
}

/**
 * Adds the names in a pattern. A shorthand property of a destructuring is skipped, since its name is checked where it
 * is declared.
 */
function visitPattern(node: Node | null | undefined, add: (node: Node) => void): void {
  switch (node?.type) {
    case 'Identifier':
    case 'PrivateIdentifier':
      return add(node);
    case 'ObjectPattern':
      for (const property of node['properties'] as Node[])
        if (property.type !== 'RestElement' && property['shorthand'] !== true)
          visitPattern(property['value'] as Node, add);
      return;
    case 'ArrayPattern':
      for (const item of node['elements'] as Node[]) visitPattern(item, add);
      return;
    case 'AssignmentPattern':
      return visitPattern(node['left'] as Node, add);
    case 'RestElement':
      return visitPattern(node['argument'] as Node, add);
    default:
  }
}

function isLogCall({ type, callee }: Node): boolean {
  const called = callee as
    | { object?: { name?: unknown; property?: { name?: unknown } }; property?: { name?: unknown } }
    | undefined;
  const object = String(called?.object?.name ?? called?.object?.property?.name);
  return type === 'CallExpression' && logMethod.test(String(called?.property?.name)) && /log(ger)?$/i.test(object);
}

function isError({ type, callee }: Node): boolean {
  return type === 'NewExpression' && String((callee as { name?: unknown } | undefined)?.name).endsWith('Error');
}

function isSql(text: string): boolean {
  return /^\s*(?:select|insert|update|delete|with|create|alter|drop|set|from|where|and|order|case|begin)\b[\s\S]*(?:\b(?:from|into|set|table|index|join|null|values|by|then)\b|=)/.test(
    text,
  );
}

function listFiles(): string[] {
  return globSync('{services,libs,cli,lab,tools,clients}/**/*.{ts,js,mjs}', {
    cwd: repoDir,
    exclude: (name) => name === 'node_modules',
  })
    .filter(
      (file) =>
        !/\.test\.ts$|\.d\.ts$|\/migrations\/|\/generated\/|node_modules|clients\/typescript\/(?:operations|event-types)\.ts/.test(
          file,
        ),
    )
    .toSorted();
}

if (import.meta.main) {
  const { values: options } = parseArgs({
    options: { list: { type: 'boolean' }, count: { type: 'boolean' }, 'at-most': { type: 'string', default: '0' } },
  });
  const vocabulary = readVocabulary(readFileSync(join(repoDir, 'docs', 'glossary.md'), 'utf8'));
  const problems = listFiles().flatMap((file) =>
    findProblems(file, readFileSync(join(repoDir, file), 'utf8'), vocabulary),
  );
  if (options.count === true) {
    const counts = Map.groupBy(problems, (problem) =>
      problem.slice(problem.lastIndexOf(': ', problem.lastIndexOf(': use')) + 2),
    );
    for (const [hit, { length }] of [...counts].toSorted(([, a], [, b]) => b.length - a.length))
      console.log(`${length}\t${hit}`);
  } else if (options.list === true || problems.length > Number(options['at-most']))
    for (const problem of problems) console.log(problem);
  console.log(`${problems.length} hits`);
  const isReport = options.list === true || options.count === true;
  if (!isReport && problems.length > Number(options['at-most'])) process.exitCode = 1;
}
