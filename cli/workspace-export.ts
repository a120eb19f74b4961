/** `workspace export`: writes the set-up data as a workspace file for `workspace apply`. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { Scalar, stringify } from 'yaml';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { isJsonObject, isRawNumber } from '#libs/infrastructure/json';
import { agents } from '#services/agents';
import { directory, workspaceLists } from '#services/directory';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { toPrintable } from './output/printable.ts';
import { table } from './output/table.ts';

type Page = ReplyOf<typeof directory.rpcs.exportWorkspace>;

interface Tally {
  readonly counts: Record<string, number>;
  readonly omitted: Record<string, number>;
  readonly variables: Set<string>;
}

/** Writes one non-empty page of a list. */
type Sink = (list: string, items: readonly unknown[]) => Promise<void>;

export function registerExport(workspace: Command, context: CliContext): void {
  workspace
    .command('export')
    .description(
      'Writes the set-up data as a workspace file (YAML, with --json JSON) that `workspace apply` reads; without conversations and passwords; ' +
        'secrets of configurations become names of environment variables',
    )
    .option('--only <selection>', 'export only these lists and items, e.g. people,agents:guide')
    .option('--out <file>', 'write to this new file, readable only by its owner, instead of standard output')
    .action(async ({ out, only }: { out?: string; only?: string }) => {
      const parts = await selectParts(context, only);
      if (out === undefined) return print(context, parts);
      const tally = await writeFile(parts, out);
      const { counts, omitted, variables } = tally;
      const rows = Object.entries(counts).map(([list, count]) => ({ list, count, skipped: omitted[list] ?? 0 }));
      context.print(
        { file: out, counts, left_out: omitted, variables: [...variables] },
        table(rows, columns, 'No data.'),
        ...describeOmissions(tally),
      );
    });
}

type Row = { readonly list: string; readonly count: number; readonly skipped: number };
const columns = {
  LIST: ({ list }: Row) => list,
  WRITTEN: ({ count }: Row) => count,
  'LEFT OUT': ({ skipped }: Row) => skipped,
};

async function print(context: CliContext, parts: readonly Part[]): Promise<void> {
  if (context.json) {
    const document: Record<string, unknown[]> = {};
    await exportAll(parts, async (list, items) => void (document[list] ??= []).push(...items));
    context.print(document);
    return;
  }
  const tally = await exportAll(parts, createYamlSink(process.stdout));
  for (const note of describeOmissions(tally)) process.stderr.write(`${note}\n`);
}

/** Removes the file when the export fails. @throws CliError when the file exists already or cannot be written */
async function writeFile(parts: readonly Part[], out: string): Promise<Tally> {
  const stream = createWriteStream(out, { mode: 0o600, flags: 'wx' });
  try {
    await once(stream, 'open');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(code === 'EEXIST' ? `${out} exists already.` : message);
  }
  try {
    const tally = await exportAll(parts, createYamlSink(stream));
    stream.end();
    await finished(stream);
    return tally;
  } catch (error) {
    stream.destroy();
    await rm(out, { force: true });
    throw error;
  }
}

/** A list to export, page by page. */
interface Part {
  readonly list: string;
  readonly read: (after: number) => Promise<Page>;
}

/**
 * Returns the parts of the export. @param only lists (`people`) and items (`agents:guide`); all lists when absent
 * @throws CliError for an unknown list or item
 */
async function selectParts(context: CliContext, only: string | undefined): Promise<Part[]> {
  const parts: Part[] = [
    ...workspaceLists.map((list): Part => {
      return { list, read: (after) => context.call(directory.rpcs.exportWorkspace, { list, after }) };
    }),
    { list: 'agents', read: (after) => context.call(agents.rpcs.exportWorkspace, { after }) },
  ];
  if (only === undefined) return parts;
  const selected = parseSelection(
    only,
    parts.map(({ list }) => list),
  );
  return Promise.all(
    parts.flatMap((part) => {
      const keys = selected.get(part.list);
      return keys === undefined ? [] : [keys === 'all' ? Promise.resolve(part) : selectItems(part, keys)];
    }),
  );
}

type Selection = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

/** @throws CliError for an unknown list, or when nothing is selected */
function parseSelection(only: string, lists: readonly string[]): Selection {
  const selected = new Map<string, Set<string> | 'all'>();
  for (const entry of only.split(',').map((text) => text.trim())) {
    const [list = '', ...rest] = entry.split(':');
    if (!lists.includes(list))
      throw new CliError(`"${list}" is not a list of the export. Lists: ${lists.join(', ')}.`, 'usage');
    const known = selected.get(list);
    if (rest.length === 0) selected.set(list, 'all');
    else if (known !== 'all') selected.set(list, new Set([...(known ?? []), rest.join(':')]));
  }
  return selected;
}

/** Reads the selected items, which are held in memory. @throws CliError for an unknown item */
async function selectItems({ list, read }: Part, keys: ReadonlySet<string>): Promise<Part> {
  const items: unknown[] = [];
  const missing = new Set(keys);
  for (let after: number | null = 0; after !== null && missing.size > 0;) {
    const page: Page = await read(after);
    for (const item of page.items) {
      const found = namesOf(list, item).find((name) => keys.has(name));
      if (found === undefined) continue;
      missing.delete(found);
      items.push(item);
    }
    after = page.next;
  }
  if (missing.size > 0) throw new CliError(`${list} has no item ${[...missing].join(', ')}.`, 'not_found');
  const hasSecrets = list === 'journeys' || list === 'agents';
  const page: Page = {
    items,
    variables: [...new Set(hasSecrets ? items.flatMap(listVariables) : [])],
    left_out: 0,
    next: null,
  };
  return { list, read: () => Promise.resolve(page) };
}

/** Returns the key of an item and, for memberships and relationships, the name that `workspace diff` shows. */
function namesOf(list: string, item: unknown): string[] {
  if (!isJsonObject(item)) return [];
  const [left, right] = list === 'memberships' ? (['person', 'holon'] as const) : (['from', 'to'] as const);
  const ends = [item[left], item[right], item['journey']].filter((part) => typeof part === 'string');
  const key = item['key'] ?? item['slug'] ?? item['email'];
  return [...(typeof key === 'string' ? [key] : []), ...(ends.length > 1 ? [ends.join('/')] : [])];
}

/** Returns the names in `{env: NAME}`. */
function listVariables(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listVariables);
  if (!isJsonObject(value)) return [];
  const { env } = value;
  if (typeof env === 'string' && Object.keys(value).length === 1) return [env];
  return Object.values(value).flatMap(listVariables);
}

/** Passes the parts to `sink` page by page, so that memory use does not grow with the data. */
async function exportAll(parts: readonly Part[], sink: Sink): Promise<Tally> {
  const tally: Tally = { counts: {}, omitted: {}, variables: new Set() };
  for (const part of parts) await exportPart(part, tally, sink);
  return tally;
}

async function exportPart({ list, read }: Part, { counts, omitted, variables }: Tally, sink: Sink): Promise<void> {
  for (let after: number | null = 0; after !== null;) {
    const page: Page = await read(after);
    const taken = page.variables.find((name) => variables.has(name));
    if (taken !== undefined)
      throw new CliError(`Two secrets would have the name ${taken}; rename one of the steps or agents.`);
    for (const name of page.variables) variables.add(name);
    if (page.left_out > 0) omitted[list] = (omitted[list] ?? 0) + page.left_out;
    if (page.items.length > 0) {
      await sink(list, page.items);
      counts[list] = (counts[list] ?? 0) + page.items.length;
    }
    after = page.next;
  }
}

function createYamlSink(stream: Writable): Sink {
  let last: string | undefined;
  return async (list, items) => {
    const head = list === last ? '' : `${last === undefined ? '' : '\n'}${list}:\n`;
    last = list;
    const text = toPrintable(head + stringify(toYaml(items), yamlOptions));
    if (!stream.write(text)) await once(stream, 'drain');
  };
}

const yamlOptions = { lineWidth: 0, aliasDuplicateObjects: false } as const;

/** A text that must be quoted, since YAML treats the unquoted key as a merge of another object. */
const mergeKey = '<<';

/**
 * Converts a value for the YAML writer. Numbers keep all digits, and texts that `toPrintable` would change are quoted,
 * so that they are read unchanged.
 */
function toYaml(value: unknown): unknown {
  if (isRawNumber(value)) return /^-?[0-9]+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON);
  if (Array.isArray(value)) return value.map(toYaml);
  if (isJsonObject(value)) return new Map(Object.entries(value).map(([key, item]) => [toYaml(key), toYaml(item)]));
  if (typeof value !== 'string' || (toPrintable(value) === value && value !== mergeKey)) return value;
  const quoted = new Scalar(value);
  quoted.type = Scalar.QUOTE_DOUBLE;
  return quoted;
}

function describeOmissions({ omitted: counts, variables }: Tally): string[] {
  const omitted = Object.entries(counts).map(([list, count]) => `${count} ${list}`);
  return [
    ...(omitted.length === 0
      ? []
      : [
          `Omitted, because a workspace file cannot refer to them (people without a key, and their data): ${omitted.join(', ')}.`,
        ]),
    ...(variables.size === 0 ? [] : [`Before the file is applied, set ${[...variables].join(', ')}.`]),
  ];
}
