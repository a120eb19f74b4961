/** `logs [SERVICE] [--follow]`: log lines of the platform that `npm start` runs in this folder. */
import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { toPrintable } from './output/printable.ts';
import { parseLimit, parseOffset } from './parse-options.ts';

interface Line {
  readonly service: string;
  readonly line: string;
}

interface Options {
  readonly lines: number;
  readonly follow?: true;
}

const suffix = '.log';
const pollMs = 250;
const readBytes = 64 * 1024;
/** A longer line is printed in parts. */
const maxLine = 1024 * 1024;

export function register(logs: Command, context: CliContext): void {
  logs
    .argument('[service]', 'only this service, e.g. directory (default: all)')
    .option('--lines <count>', 'last lines of each service, at most 1000; with --follow also 0', parseLines, 50)
    .option('-f, --follow', 'print new lines (JSON with --json), until Ctrl-C')
    .action(async (service: string | undefined, { lines, follow }: Options) => {
      const folder = join(context.setting('COHERENCE_DATA_DIR') || join(import.meta.dirname, '..', '.data'), 'logs');
      const names = listServices(folder);
      if (names.length === 0) throw new CliError('No platform of `npm start` has run in this folder.', 'not_found');
      if (service !== undefined && !names.includes(service))
        throw new CliError(`Service ${service} has no log. Use one of ${names.join(', ')}.`, 'not_found');
      const isChosen = (name: string): boolean => service === undefined || name === service;
      const show = (item: Line): string =>
        toPrintable(service === undefined ? `${item.service}  ${item.line}` : item.line);
      if (follow !== true) {
        if (lines === 0) throw new CliError('--lines must be between 1 and 1000.', 'usage');
        const items = names.filter(isChosen).flatMap((name) => readLast(folder, name, lines).items);
        context.print(items, ...items.map(show));
        return;
      }
      for await (const item of followLogs(folder, lines, isChosen))
        process.stdout.write(`${context.json ? JSON.stringify(item) : show(item)}\n`);
    });
}

const parseLines = (text: string): number => (text === '0' ? parseOffset(text) : parseLimit(text));

function listServices(folder: string): string[] {
  try {
    const files = readdirSync(folder).filter((file) => file.endsWith(suffix));
    return files.toSorted().map((file) => file.slice(0, -suffix.length));
  } catch {
    return [];
  }
}

/** Returns the last lines of a log, and the number of bytes up to the end of its last line. */
function readLast(folder: string, service: string, count: number): { items: Line[]; end: number } {
  const content = readFileSync(join(folder, `${service}${suffix}`));
  const end = content.lastIndexOf(0x0a) + 1;
  const lines = content
    .toString('utf8', 0, end)
    .split('\n')
    .filter((line) => line !== '');
  return { items: count === 0 ? [] : lines.slice(-count).map((line) => ({ service, line })), end };
}

/** Yields the last lines of the logs, then new lines, also of services that start later. */
async function* followLogs(
  folder: string,
  count: number,
  isChosen: (service: string) => boolean,
): AsyncGenerator<Line> {
  const logs = new Map<string, NewLines>();
  for (let isFirst = true; ; isFirst = false) {
    for (const service of listServices(folder).filter(isChosen)) {
      const known = logs.get(service);
      if (known !== undefined) {
        yield* known.read();
        continue;
      }
      const { items, end } = readLast(folder, service, isFirst ? count : 1_000);
      logs.set(service, new NewLines(folder, service, end));
      yield* items;
    }
    await sleep(pollMs);
  }
}

/** Reads lines that are appended to a log. A log that was truncated, by a new start of the platform, is read anew. */
class NewLines {
  readonly #file: string;
  readonly #service: string;
  #offset: number;
  #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(folder: string, service: string, offset: number) {
    this.#file = join(folder, `${service}${suffix}`);
    this.#service = service;
    this.#offset = offset;
  }

  *read(): Generator<Line> {
    const descriptor = openSync(this.#file, 'r');
    try {
      if (fstatSync(descriptor).size < this.#offset) {
        [this.#offset, this.#rest, this.#decoder] = [0, '', new StringDecoder('utf8')];
      }
      const buffer = Buffer.alloc(readBytes);
      for (let count; (count = readSync(descriptor, buffer, 0, readBytes, this.#offset)) > 0;) {
        this.#offset += count;
        const lines = (this.#rest + this.#decoder.write(buffer.subarray(0, count))).split('\n');
        this.#rest = lines.pop() ?? '';
        if (this.#rest.length > maxLine) {
          lines.push(this.#rest);
          this.#rest = '';
        }
        for (const line of lines) if (line !== '') yield { service: this.#service, line };
      }
    } finally {
      closeSync(descriptor);
    }
  }
}
