/** `people export`: streams all data of one person into a ZIP of JSON files, page by page. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory, personDataParts } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { CliContext } from '../context.ts';
import { CliError } from '../failure.ts';
import type { KnownPerson } from './person.ts';

type Items = AsyncIterable<unknown>;

interface Page {
  readonly items: readonly unknown[];
  readonly next: number | string | null;
}

/** Maximum number of ids per call. */
const idsPerCall = 10_000;

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
  for (const [name, items] of listEntries(context, person)) {
    counts[name] = 0;
    const count = (): void => void (counts[name] = (counts[name] ?? 0) + 1);
    zip.addReadStreamLazy(`${name}.json`, (give) => give(null, Readable.from(toJsonList(items(), count))));
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

/** Returns the entries of the archive in order. An entry is read after the previous entry has been written. */
function listEntries(context: CliContext, person: KnownPerson): [string, () => Items][] {
  const { id } = person;
  const participated: number[] = [];
  const parts = personDataParts.map((part): [string, () => Items] => [
    part,
    () => pages(0, (after) => context.call(directory.rpcs.exportPerson, { person_id: id, part, after })),
  ]);
  return [
    ...parts,
    ['conversations', () => readConversations(context, id, participated)],
    ['files', () => readFiles(context, participated)],
    ['transcript', () => pages('', (after) => context.call(transcripts.rpcs.exportPerson, { person_id: id, after }))],
    ['agents', () => readChats(context, person)],
    ['webhook-endpoints', () => readEndpoints(context, person)],
  ];
}

async function* readConversations(context: CliContext, id: number, took: number[]): Items {
  for await (const item of pages(0, (after) =>
    context.call(conversations.rpcs.exportPerson, { person_id: id, after }),
  )) {
    const conversation = item as { id: number; is_participant: boolean };
    if (conversation.is_participant) took.push(conversation.id);
    yield item;
  }
}

/** Metadata of audio and recordings of the person's conversations. */
async function* readFiles(context: CliContext, conversationIds: readonly number[]): Items {
  for (let start = 0; start < conversationIds.length; start += idsPerCall) {
    const ids = conversationIds.slice(start, start + idsPerCall);
    yield* (await context.call(media.rpcs.listFiles, { conversation_ids: ids })).items;
  }
}

async function* readChats(context: CliContext, { visitorIds, telegramUserIds, account_ids }: KnownPerson): Items {
  if (visitorIds.length + telegramUserIds.length + account_ids.length === 0) return;
  const named = { visitor_ids: [...visitorIds], telegram_user_ids: [...telegramUserIds], account_ids };
  yield* pages(0, (after) => context.call(agents.rpcs.exportPerson, { ...named, after }));
}

async function* readEndpoints(context: CliContext, { account_ids: accountIds }: KnownPerson): Items {
  for (const accountId of accountIds)
    yield* (await context.call(events.rpcs.listAllEndpoints, { account_id: accountId })).items;
}

async function* pages<Mark extends number | string>(first: Mark, read: (after: Mark) => Promise<Page>): Items {
  for (let after: Mark | null = first; after !== null;) {
    const page: Page = await read(after);
    yield* page.items;
    after = page.next as Mark | null;
  }
}

async function* toJsonList(items: Items, count: () => void): AsyncGenerator<string> {
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
