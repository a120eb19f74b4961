/** `workspace export`: writes the set-up data as a workspace file for `workspace apply`. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { Scalar, stringify } from 'yaml';
import type { ReplyOf } from '#libs/contract';
import { isJsonObject, isRawNumber } from '#libs/json';
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
    .option('--out <file>', 'write to this new file, readable only by its owner, instead of standard output')
    .action(async ({ out }: { out?: string }) => {
      if (out === undefined) return print(context);
      const tally = await writeFile(context, out);
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

async function print(context: CliContext): Promise<void> {
  if (context.json) {
    const document: Record<string, unknown[]> = {};
    await exportAll(context, async (list, items) => void (document[list] ??= []).push(...items));
    context.print(document);
    return;
  }
  const tally = await exportAll(context, createYamlSink(process.stdout));
  for (const note of describeOmissions(tally)) process.stderr.write(`${note}\n`);
}

/** Removes the file when the export fails. @throws CliError when the file exists already or cannot be written */
async function writeFile(context: CliContext, out: string): Promise<Tally> {
  const stream = createWriteStream(out, { mode: 0o600, flags: 'wx' });
  try {
    await once(stream, 'open');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CliError(code === 'EEXIST' ? `${out} exists already.` : message);
  }
  try {
    const tally = await exportAll(context, createYamlSink(stream));
    stream.end();
    await finished(stream);
    return tally;
  } catch (error) {
    stream.destroy();
    await rm(out, { force: true });
    throw error;
  }
}

/** Passes all lists to `sink` page by page, so that memory use does not grow with the data. */
async function exportAll(context: CliContext, sink: Sink): Promise<Tally> {
  const tally: Tally = { counts: {}, omitted: {}, variables: new Set() };
  for (const list of workspaceLists)
    await exportList(list, tally, sink, (after) => context.call(directory.rpcs.exportWorkspace, { list, after }));
  await exportList('agents', tally, sink, (after) => context.call(agents.rpcs.exportWorkspace, { after }));
  return tally;
}

async function exportList(
  list: string,
  { counts, omitted, variables }: Tally,
  sink: Sink,
  read: (after: number) => Promise<Page>,
): Promise<void> {
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
