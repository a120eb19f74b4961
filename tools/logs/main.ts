/**
 * `npm run logs [service…]`: follows the logs of `npm start` until Ctrl-C, by default of the seven services: readable
 * lines in a terminal, JSON when piped. Logs of servers and tools are selected by their file names in `.data/logs`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createReadableLines } from '#libs/infrastructure/logger';
import { findStarted } from '../start/start-lock.ts';
import { FollowedFile, mergeByTime } from './follow.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const dataDir = resolve(process.env['COHERENCE_DATA_DIR'] || join(repoDir, '.data'));
const logsDir = join(dataDir, 'logs');
const pollMs = 200;
/** Number of earlier lines that are printed for each log. */
const earlierLines = 10;

/** Returns the selected log files. @throws Error that describes what to do */
function chooseLogs(names: readonly string[]): string[] {
  const services = readdirSync(join(repoDir, 'services'));
  const existing = existsSync(logsDir)
    ? readdirSync(logsDir).flatMap((file) => /^(.+)\.log$/.exec(file)?.[1] ?? [])
    : [];
  const known = [...new Set([...services, ...existing])];
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`There is no log of ${unknown.join(', ')}. There are: ${known.toSorted().join(', ')}.`);
  if (findStarted(join(dataDir, 'start.lock')) === undefined) {
    const earlier = existing.length === 0 ? '' : ` What ran before left its logs in ${logsDir}.`;
    throw new Error(`No platform runs in this folder. Start it in another terminal with: npm start${earlier}`);
  }
  return names.length === 0 ? services : [...new Set(names)];
}

async function follow(names: readonly string[]): Promise<never> {
  const files = names.map((name) => new FollowedFile(join(logsDir, `${name}.log`)));
  const show = process.stdout.isTTY ? createReadableLines({ colors: true }) : (line: string): string => `${line}\n`;
  for (;;) {
    for (const line of mergeByTime(files.map((file) => file.read(earlierLines)))) process.stdout.write(show(line));
    await sleep(pollMs);
  }
}

process.stdout.on('error', () => process.exit(0)); // the pipe is closed, e.g. because `head` has read enough
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
try {
  await follow(chooseLogs(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
