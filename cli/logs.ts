/** `logs [SERVICE]`: the last log lines of the platform that `npm start` runs in this folder. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { CliContext } from './context.ts';
import { CliError } from './failure.ts';
import { parseLimit } from './parse-options.ts';

export function register(logs: Command, context: CliContext): void {
  logs
    .argument('[service]', 'only this service, e.g. directory (default: all)')
    .option('--lines <count>', 'last lines of each service, at most 1000', parseLimit, 50)
    .action((service: string | undefined, { lines }: { lines: number }) => {
      const data = context.setting('COHERENCE_DATA_DIR') || join(import.meta.dirname, '..', '.data');
      const items = readLogs(join(data, 'logs'), lines);
      const names = [...new Set(items.map(({ service: name }) => name))];
      if (names.length === 0) throw new CliError('No platform of `npm start` has run in this folder.', 'not_found');
      if (service !== undefined && !names.includes(service))
        throw new CliError(`Service ${service} has no log. Use one of ${names.join(', ')}.`, 'not_found');
      const chosen = items.filter((item) => service === undefined || item.service === service);
      context.print(chosen, ...chosen.map((item) => `${service === undefined ? `${item.service}  ` : ''}${item.line}`));
    });
}

function readLogs(folder: string, lines: number): { service: string; line: string }[] {
  const suffix = '.log';
  return listFiles(folder)
    .filter((file) => file.endsWith(suffix))
    .toSorted()
    .flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .slice(-lines)
        .map((line) => ({ service: file.slice(0, -suffix.length), line })),
    );
}

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
