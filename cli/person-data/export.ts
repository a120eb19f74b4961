/** `people export`: streams all data of one person into a ZIP of JSON files, page by page. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { ReplyOf } from '#libs/contract';
import { directory, exportParts } from '#services/directory';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import type { KnownPerson } from './person.ts';

const { exportPersonPart } = directory.rpcs;
type Part = (typeof exportParts)[number];

/** Writes the file atomically, readable only by its owner. @throws CliError when it exists already */
export async function exportPerson(
  context: CliContext,
  person: KnownPerson,
  file: string,
): Promise<Record<string, number>> {
  if (await exists(file)) throw new CliError(`${file} exists already.`);
  const partial = `${file}.partial`;
  const counts: Record<string, number> = {};
  const zip = new ZipFile();
  // An entry is read after the previous one has been written.
  for (const name of exportParts) {
    counts[name] = 0;
    const count = (): void => void (counts[name] = (counts[name] ?? 0) + 1);
    zip.addReadStreamLazy(`${name}.json`, (give) =>
      give(null, Readable.from(toJsonList(readPart(context, person, name), count))),
    );
  }
  zip.end();
  try {
    const failed = once(zip, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([pipeline(zip.outputStream, createWriteStream(partial, { mode: 0o600 })), failed]);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return counts;
}

async function* readPart(context: CliContext, person: KnownPerson, part: Part): AsyncGenerator<unknown> {
  const chats = { visitor_ids: [...person.visitorIds], telegram_user_ids: [...person.telegramUserIds] };
  for (let after: string | null = null, isLast = false; !isLast;) {
    const request = { person_id: person.id, ...chats, part, after };
    const page: ReplyOf<typeof exportPersonPart> = await context.call(exportPersonPart, request);
    yield* page.items;
    after = page.next;
    isLast = after === null;
  }
}

async function* toJsonList(items: AsyncIterable<unknown>, count: () => void): AsyncGenerator<string> {
  let separator = '[';
  for await (const item of items) {
    count();
    yield `${separator}\n${JSON.stringify(item, null, 2)}`;
    separator = ',';
  }
  yield separator === '[' ? '[]\n' : '\n]\n';
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
