/**
 * `people erase`: erases a person from one service after the other. The directory is last and every step is idempotent,
 * so the same command resumes an interrupted erasure.
 */
import { userInfo } from 'node:os';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import type { CliContext } from '../context.ts';
import type { KnownPerson } from './person.ts';

export type Counts = Record<string, Record<string, number>>;

export interface EraseOptions {
  readonly dryRun: boolean;
  /** Called before each step. */
  readonly onStep: (service: string) => void;
}

/** @returns the number of removed rows by service; with `dryRun`, of rows that would be removed */
export async function erasePerson(
  context: CliContext,
  person: KnownPerson,
  { dryRun, onStep }: EraseOptions,
): Promise<Counts> {
  const { id, account_ids } = person;
  const counts: Counts = {};
  // Ends all sessions of the person before any data is removed.
  if (!dryRun) await context.call(directory.rpcs.suspendPerson, { person_id: id });
  // Recorded first, so that a restore to an earlier time erases the person again (rules/operations#after-a-restore).
  if (!dryRun) await rememberErasure(context, person);

  // A merge may not have reached every service yet. The surviving id is last, to include rows that the merge moves
  // meanwhile.
  const ids = [...new Set(person.former.map((former) => former.person_id).filter((former) => former !== id)), id];
  const eachId = async (erase: (what: { person_id: number; dry_run: boolean }) => Promise<Record<string, number>>) => {
    const total: Record<string, number> = {};
    for (const person_id of ids) addTo(total, await erase({ person_id, dry_run: dryRun }));
    return total;
  };

  // Transcripts are erased before conversations: they are found by speaker, and erasing a conversation removes its
  // remaining transcript.
  onStep('transcripts');
  counts['transcripts'] = await eachId((what) =>
    eachPage((after) => context.call(transcripts.rpcs.erasePerson, { ...what, after })),
  );
  onStep('conversations');
  const known = { emails: person.emails.filter((email) => email.length >= 3), name: person.name, account_ids };
  counts['conversations'] = await eachId((what) =>
    eachPage((after) => context.call(conversations.rpcs.erasePerson, { ...what, ...known, after })),
  );
  onStep('media');
  counts['media'] = await eachId(
    async (what) => (await context.call(media.rpcs.erasePerson, { ...what, account_ids })).counts,
  );
  onStep('agents');
  counts['agents'] = await forgetChats(context, person, dryRun);
  onStep('events');
  counts['events'] = await eachId(
    async (what) => (await context.call(events.rpcs.erasePerson, { ...what, account_ids })).counts,
  );
  onStep('directory');
  const operator = userInfo().username;
  counts['directory'] = (
    await context.call(directory.rpcs.erasePerson, { person_id: id, dry_run: dryRun, operator })
  ).counts;
  return counts;
}

/** Records all ids that the person has in any earlier state of the database. */
async function rememberErasure(context: CliContext, person: KnownPerson): Promise<void> {
  for (const { person_id, digest } of person.former) {
    await context.call(media.rpcs.recordErasure, { person_id, digest, visitor_ids: [], telegram_user_ids: [] });
  }
  await context.call(media.rpcs.recordErasure, {
    person_id: person.id,
    digest: person.digest,
    visitor_ids: [...person.visitorIds],
    telegram_user_ids: [...person.telegramUserIds],
  });
}

function addTo(total: Record<string, number>, counts: Record<string, number>): void {
  for (const [what, count] of Object.entries(counts)) total[what] = (total[what] ?? 0) + count;
}

async function eachPage(
  read: (after: number) => Promise<{ counts: Record<string, number>; next: number | null }>,
): Promise<Record<string, number>> {
  const total: Record<string, number> = {};
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read(after);
    addTo(total, page.counts);
    after = page.next;
  }
  return total;
}

/** Removes chats of the given visitors and Telegram users; a dry run counts their messages. */
export async function forgetChats(
  context: CliContext,
  { visitorIds, telegramUserIds }: Pick<KnownPerson, 'visitorIds' | 'telegramUserIds'>,
  dryRun: boolean,
): Promise<Record<string, number>> {
  const targets = [
    ...visitorIds.map((visitor_id) => ({ visitor_id })),
    ...telegramUserIds.map((telegram_user_id) => ({ telegram_user_id })),
  ];
  let messages = 0;
  if (!dryRun) {
    for (const target of targets) messages += (await context.call(agents.rpcs.forgetPerson, target)).messages;
    return { messages };
  }
  const named = { visitor_ids: [...visitorIds], telegram_user_ids: [...telegramUserIds] };
  for (let after: number | null = targets.length === 0 ? null : 0; after !== null;) {
    const page: { items: readonly unknown[]; next: number | null } = await context.call(agents.rpcs.exportPerson, {
      ...named,
      after,
    });
    messages += page.items.length;
    after = page.next;
  }
  return { messages };
}
