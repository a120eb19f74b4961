/** `people export`: writes all data of one person into a ZIP of JSON files. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import { chatsOf, type ChatOptions } from './person.ts';

/**
 * Writes the file atomically, readable only by its owner. Returns the number of items by part. @throws CliError when
 * the file exists already
 */
export async function exportPerson(
  context: CliContext,
  personId: number,
  { chats, file }: { readonly chats: ChatOptions; readonly file: string },
): Promise<Record<string, number>> {
  if (await exists(file)) throw new CliError(`${file} exists already.`);
  const call = { path: { person_id: personId }, query: chatsOf(chats) };
  const parts = Object.entries((await context.http((api) => api.exportPerson(call))).body);
  const partial = `${file}.partial`;
  const zip = new ZipFile();
  for (const [name, items] of parts) zip.addBuffer(Buffer.from(`${JSON.stringify(items, null, 2)}\n`), `${name}.json`);
  zip.end();
  try {
    const failed = once(zip, 'error').then(([error]) => Promise.reject(error as Error));
    await Promise.race([pipeline(zip.outputStream, createWriteStream(partial, { mode: 0o600 })), failed]);
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return Object.fromEntries(parts.map(([name, items]) => [name, items.length]));
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch {
    return false;
  }
}
