/**
 * Parses the text of a workspace file: YAML or JSON, with the line of every value, and with `{env: NAME}` in place of
 * secrets.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import {
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type Node,
} from 'yaml';
import { isJsonObject, isRawNumber, parseJson, type JsonObject } from '#libs/infrastructure/json';
import { isBlank } from '#libs/infrastructure/text';
import { CliError } from './failure.ts';

export type Path = readonly (string | number)[];

export interface FileProblem {
  readonly path: Path;
  readonly message: string;
  /** Line in the file, if known. */
  readonly line?: number;
}

export interface WorkspaceFile {
  /** The document with secrets resolved; numbers keep all digits. */
  readonly document: unknown;
  /** Problems of the file, e.g. variables that are not set. */
  readonly problems: readonly FileProblem[];
  /** Returns the line, from 1, of the value at a path or of its closest existing parent. */
  lineOf(path: Path): number;
}

/** Maximum number of printed syntax errors; a broken file can have one per character. */
const maxSyntaxErrors = 50;
/** Nesting of lists and objects; the document is level 1. */
const maxDepth = 100;
const tooDeep = `is nested more than ${maxDepth} levels deep`;
/** YAML tags of JSON types. */
const knownTags: ReadonlySet<string> = new Set([
  '!',
  ...['map', 'seq', 'str', 'int', 'float', 'bool', 'null'].map((name) => `tag:yaml.org,2002:${name}`),
]);
/** Limit of aliases in a document, counted after expansion. */
const maxAliases = 10_000;
/** Name of the input `-`. Relative paths in this input are resolved from the working directory. */
export const standardInput = 'standard input';
/** Maximum size of standard input, which is read into memory. Larger documents must be passed as files. */
const maxInputBytes = 16 * 1_048_576;
/** Characters that aliases may add: a small file could expand to gigabytes. */
const maxAliasedCharacters = 16 * 1_048_576;

/** @throws CliError with the first syntax errors and their lines when the file cannot be read as YAML or JSON. */
export function readWorkspaceFile(
  file: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): WorkspaceFile {
  return parseWorkspace(file, readText(file), env);
}

/**
 * Parses a text that is an excerpt of `file`. @param lineInFile converts a line of the text to the line of the file,
 * both from 1
 */
export function parseWorkspace(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  lineInFile: (line: number) => number = (line) => line,
): WorkspaceFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, intAsBigInt: true, merge: true, prettyErrors: false });
  const errors =
    document.errors.length > 0
      ? document.errors.map(({ pos, message }) => ({ offset: pos[0], message: isTooDeep(message) ? tooDeep : message }))
      : listNodeProblems(document);
  if (errors.length > 0) {
    const messages = errors
      .slice(0, maxSyntaxErrors)
      .map(({ offset, message }) => `${file}:${lineInFile(lines.linePos(offset).line)}: ${message}`);
    throw new CliError(messages.join('\n'));
  }
  const tooLong = findTooLong(document);
  if (tooLong !== undefined) {
    const line = lineInFile(lines.linePos(tooLong).line);
    throw new CliError(
      `${file}:${line}: aliases up to here make the document more than ${maxAliasedCharacters} characters longer`,
    );
  }
  let value: unknown;
  try {
    value = document.toJS({
      maxAliasCount: maxAliases,
      reviver: (_key, item: unknown) => (typeof item === 'bigint' ? parseJson(String(item)) : item),
    });
  } catch (error) {
    throw new CliError(`${file}:${lineInFile(1)}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (isNestedTooDeep(value)) throw new CliError(`${file}:${lineInFile(1)}: ${tooDeep}, aliases included`);
  const problems: FileProblem[] = [];
  return {
    document: resolveSecrets(value, env, problems),
    problems,
    lineOf: (path) => lineInFile(lines.linePos(offsetOf(document, path)).line),
  };
}

/** Returns true for the parser's error about a document that exceeds the call stack. */
const isTooDeep = (message: string): boolean => message.includes('call stack');

interface NodeProblem {
  readonly offset: number;
  readonly message: string;
}

/** Returns the invalid values in document order. Values nested deeper than `maxDepth` are not checked. */
function listNodeProblems(document: Document): NodeProblem[] {
  const problems: NodeProblem[] = [];
  const pending: [node: unknown, depth: number][] = [[document.contents, 1]];
  for (let next = pending.pop(); next !== undefined && problems.length < maxSyntaxErrors; next = pending.pop()) {
    const [node, depth] = next;
    if (!isNode(node)) continue;
    const offset = node.range?.[0] ?? 0;
    const { tag } = node;
    if (tag !== undefined && !knownTags.has(tag))
      problems.push({ offset, message: `the tag ${showTag(tag)} is not supported; remove it` });
    const items = isMap(node) ? node.items.flatMap(({ key, value }) => [key, value]) : isSeq(node) ? node.items : [];
    if (items.length > 0 && depth > maxDepth) problems.push({ offset, message: tooDeep });
    else for (const item of items.toReversed()) pending.push([item, depth + 1]);
  }
  return problems;
}

/** Returns true when the value is nested too deep after its aliases were expanded. */
function isNestedTooDeep(root: unknown): boolean {
  const pending: [value: unknown, depth: number][] = [[root, 1]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, depth] = next;
    if (typeof value !== 'object' || value === null || isRawNumber(value)) continue;
    const items: unknown[] = Object.values(value);
    if (items.length > 0 && depth > maxDepth) return true;
    for (const item of items) pending.push([item, depth + 1]);
  }
  return false;
}

const showTag = (tag: string): string => tag.slice(0, 100).replace(/^tag:yaml\.org,2002:/, '!!');

/** Returns the offset of the alias that exceeds `maxAliasedCharacters`. */
function findTooLong(document: Document): number | undefined {
  const anchors = new Map<string, readonly [start: number, end: number]>();
  const aliases: Alias[] = [];
  let added = 0;
  let found: number | undefined;
  visit(document, (_key, node) => {
    if (!isNode(node)) return undefined;
    const [offset, end] = node.range ?? [0, 0];
    if (!isAlias(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, [offset, end]);
      return undefined;
    }
    const [from, to] = anchors.get(node.source) ?? [0, 0];
    const within = addedBefore(aliases, to) - addedBefore(aliases, from);
    added += to - from + within;
    aliases.push({ offset, added });
    if (added <= maxAliasedCharacters) return undefined;
    found = offset;
    return visit.BREAK;
  });
  return found;
}

interface Alias {
  readonly offset: number;
  /** Characters added by this and all earlier aliases. */
  readonly added: number;
}

/** Returns the characters that were added by aliases before `offset`. @param aliases in document order */
function addedBefore(aliases: readonly Alias[], offset: number): number {
  let [low, high] = [0, aliases.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((aliases[middle]?.offset ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return aliases[low - 1]?.added ?? 0;
}

/** @throws CliError when the input is too long or is not UTF-8. */
export async function readStandardInput(
  stream: AsyncIterable<Buffer> = process.stdin,
  maxBytes = maxInputBytes,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > maxBytes) throw new CliError(`${standardInput}: is longer than ${maxBytes} bytes; apply it as a file`);
    chunks.push(chunk);
  }
  return toText(standardInput, Buffer.concat(chunks));
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new CliError(
      `${file}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'file not found' : String(error)}`,
    );
  }
  return toText(file, bytes);
}

function toText(file: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new CliError(`${file}:1: is not text in UTF-8`);
  return bytes.toString('utf8');
}

function offsetOf(document: Document, path: Path): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document) ?? null;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? String(key.value) : String(key)) === String(part));
      if (pair === undefined) return offset;
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = isNode(pair.value) ? pair.value : null;
    } else if (isSeq(node)) {
      const item: unknown = node.items[Number(part)];
      if (!isNode(item)) return offset;
      offset = item.range?.[0] ?? offset;
      node = item;
    } else {
      return offset;
    }
  }
  return offset;
}

/** Replaces a variable that is not set, so that the remaining file can be checked. */
const unsetPlaceholder = 'unset';

/**
 * Resolves `{env: NAME}` in account passwords and in configurations of steps and agents. In other fields, `{env: NAME}`
 * is ordinary data.
 */
function resolveSecrets(
  document: unknown,
  env: Readonly<Record<string, string | undefined>>,
  problems: FileProblem[],
): unknown {
  const resolve = (value: unknown, path: Path): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, [...path, index]));
    if (!isJsonObject(value)) return value;
    const name = value['env'];
    if (typeof name === 'string' && Object.keys(value).length === 1) {
      const found = env[name];
      if (found !== undefined && !isBlank(found)) return found;
      problems.push({
        path,
        message: `the environment variable ${name} is ${found === undefined || found === '' ? 'not set' : 'blank'}`,
      });
      return unsetPlaceholder;
    }
    return mapObject(value, (key, item) => resolve(item, [...path, key]));
  };
  const within = (item: unknown, field: string, path: Path): unknown =>
    isJsonObject(item)
      ? mapObject(item, (key, value) => (key === field ? resolve(value, [...path, key]) : value))
      : item;
  if (!isJsonObject(document)) return document;
  return mapObject(document, (list, items) =>
    mapList(items, (item, index) => {
      if (list === 'accounts') return within(item, 'password', [list, index]);
      if (list === 'agents') return within(item, 'config', [list, index]);
      if (list !== 'journeys' || !isJsonObject(item)) return item;
      return mapObject(item, (key, steps) =>
        key === 'steps' ? mapList(steps, (step, index) => within(step, 'config', [list, index, key, index])) : steps,
      );
    }),
  );
}

function mapObject(value: JsonObject, map: (key: string, item: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(key, item)]));
}

function mapList(value: unknown, map: (item: unknown, index: number) => unknown): unknown {
  return Array.isArray(value) ? value.map(map) : value;
}
