/**
 * Reads a workspace file, and separately its list `conversations:`, item by item. The list can be read several times.
 */
import { statSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';
import { CliError } from '../failure.ts';
import {
  parseWorkspace,
  readStandardInput,
  readWorkspaceFile,
  standardInput,
  type Path,
  type WorkspaceFile,
} from '../workspace-file.ts';
import { createItemSpool, type ItemSpool } from './item-spool.ts';
import { splitFile, type ItemText } from './split-file.ts';

export interface ListedItem {
  /** Position in the list, from 0. */
  readonly index: number;
  readonly value: unknown;
  /** Returns the line in the file of the value at a path within the item. */
  lineOf(path: Path): number;
}

export interface SplitWorkspace {
  /** The file without its conversations. */
  readonly file: WorkspaceFile;
  /** Reads the conversations; undefined when the file has no list `conversations:`. */
  readonly conversations: (() => AsyncIterable<ListedItem>) | undefined;
  /** True when `conversations` is not a list. */
  readonly misplaced: boolean;
}

const listName = 'conversations';
/** Files up to this size are read at once and can use all of YAML. */
const wholeBytes = 1_048_576;

/** @throws CliError that lists every syntax error with its line */
export async function readSplitWorkspace(name: string): Promise<SplitWorkspace> {
  if (name === standardInput) return splitWhole(parseWorkspace(name, await readStandardInput()));
  const sizeBytes = statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes <= wholeBytes) return splitWhole(readWorkspaceFile(name));
  collectEarly();
  const rest: string[] = [];
  const gaps: { after: number; lines: number }[] = [];
  let hasItems = false;
  for await (const piece of splitFile(name)) {
    if (piece === undefined) return splitWhole(readWorkspaceFile(name));
    if (piece.kind === 'rest') rest.push(piece.text);
    else if (piece.kind === 'gap') gaps.push({ after: countLineBreaks(rest), lines: piece.lines });
    else hasItems = true;
  }
  const lineInFile = (line: number): number =>
    gaps.reduce((sum, { after, lines }) => (line > after ? sum + lines : sum), line);
  const parsed = splitWhole(parseWorkspace(name, rest.join(''), process.env, lineInFile));
  return hasItems ? { ...parsed, misplaced: false, conversations: createReader(name) } : parsed;
}

/**
 * Keeps the heap small: reading allocates gigabytes of short-lived objects, and a heap that has grown does not shrink
 * (docs/performance-notes.md#incremental-json-parsing-in-the-importer).
 */
function collectEarly(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=40');
}

function countLineBreaks(texts: readonly string[]): number {
  let count = 0;
  for (const text of texts) for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function splitWhole(file: WorkspaceFile): SplitWorkspace {
  const { document } = file;
  if (!isJsonObject(document) || !Object.hasOwn(document, listName))
    return { file, conversations: undefined, misplaced: false };
  const list = document[listName];
  const rest = { ...file, document: Object.fromEntries(Object.entries(document).filter(([key]) => key !== listName)) };
  if (list === null) return { file: rest, conversations: undefined, misplaced: false };
  if (!Array.isArray(list)) return { file: rest, conversations: undefined, misplaced: true };
  return { file: rest, misplaced: false, conversations: () => listItems(file, list) };
}

async function* listItems(file: WorkspaceFile, list: readonly unknown[]): AsyncGenerator<ListedItem> {
  for (const [index, value] of list.entries()) {
    yield { index, value, lineOf: (path) => file.lineOf([listName, index, ...path]) };
  }
}

/** Returns a function that reads the items. YAML items are parsed only on the first call. */
function createReader(name: string): () => AsyncIterable<ListedItem> {
  let spool: ItemSpool | undefined;
  return async function* () {
    let index = 0;
    if (spool !== undefined) {
      for await (const { value, line } of spool.read()) yield { index: index++, value, lineOf: () => line };
      return;
    }
    let filling: ItemSpool | undefined;
    for await (const piece of splitFile(name)) {
      if (piece?.kind !== 'item') continue;
      const item = readItem(name, index++, piece);
      if (!isJsonText(piece.text)) {
        filling ??= createItemSpool();
        await filling.add({ value: item.value, line: piece.line });
      }
      yield item;
    }
    await filling?.finish();
    spool = filling;
  };
}

const isJsonText = (text: string): boolean => text.trimStart().startsWith('{');

/** Parses JSON items with the JSON parser, which is faster; their line numbers are computed only when needed. */
function readItem(name: string, index: number, { text, line }: ItemText): ListedItem {
  const lineInFile = (at: number): number => at + line - 1;
  const trimmed = text.trimStart();
  if (isJsonText(text)) {
    try {
      const value = parseJson(trimmed);
      return { index, value, lineOf: (path) => parseWorkspace(name, trimmed, {}, lineInFile).lineOf(path) };
    } catch {
      // The YAML parser below reports the error with its line.
    }
    const whole = parseWorkspace(name, trimmed, {}, lineInFile);
    return { index, value: whole.document, lineOf: (path) => whole.lineOf(path) };
  }
  const parsed = parseWorkspace(name, text, {}, lineInFile);
  const [value] = Array.isArray(parsed.document) ? (parsed.document as unknown[]) : [];
  if (!Array.isArray(parsed.document)) throw new CliError(`${name}:${line}: ${listName}[${index}] cannot be read`);
  return { index, value, lineOf: (path) => parsed.lineOf([0, ...path]) };
}
