/** Erases a person from one service after the other (rules/people#export-and-erasure; W20). */
import { type AuditContext, onBehalfOf } from '#libs/infrastructure/audit';
import type { ChangeOrigin } from '#libs/infrastructure/contract';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import { agents } from '#services/agents';
import { conversations } from '#services/conversations';
import { events } from '#services/events';
import { media } from '#services/media';
import { transcripts } from '#services/transcripts';
import { findPersonIdentity, type PersonIdentity } from '../person-data/index.ts';
import { erasureRpcs, type ErasedService } from './contract.ts';

/** Chats of a person without an account. */
export interface Chats {
  readonly visitor_ids: readonly string[];
  readonly telegram_user_ids: readonly number[];
}

/** What identifies the person in the services, as stored with the erasure. */
export type ErasedPerson = Omit<PersonIdentity, keyof Chats> & Chats;

export type Counts = Record<string, number>;

/** Minimum length of emails to remove from texts. */
const shortestEmail = 3;

export async function identifyErased(db: Queryable, personId: number, chats: Chats): Promise<ErasedPerson> {
  const identity = await findPersonIdentity(db, personId);
  return {
    ...identity,
    visitor_ids: [...new Set(chats.visitor_ids)],
    telegram_user_ids: [...new Set([...identity.telegram_user_ids, ...chats.telegram_user_ids])],
  };
}

/** Context for audit log and history of the directory's own step. */
export const erasureContext = (requestId: string, by: ChangeOrigin): ReturnType<typeof onBehalfOf> => {
  const { subject, audit } = erasureRpcs.erasePerson;
  const context: Pick<AuditContext, 'subject' | 'audit' | 'requestId'> = { subject, audit, requestId };
  return onBehalfOf(context, by);
};

/**
 * Records in the object store all ids that the person had in any earlier state of the database, so that a restore to an
 * earlier time erases the person again (rules/operations#after-a-restore).
 */
export async function recordForRestores(bus: Bus, person: ErasedPerson, context: CallContext): Promise<void> {
  const { recordErasure } = media.rpcs;
  const none = { visitor_ids: [], telegram_user_ids: [] };
  for (const { person_id, digest } of person.former)
    await bus.call(recordErasure, { person_id, digest, ...none }, context);
  const { id, digest, visitor_ids: visitors, telegram_user_ids: users } = person;
  const chats = { visitor_ids: [...visitors], telegram_user_ids: [...users] };
  await bus.call(recordErasure, { person_id: id, digest, ...chats }, context);
}

interface EraseOptions {
  readonly dryRun: boolean;
  readonly by: ChangeOrigin;
  readonly context: CallContext;
}

/**
 * Returns the erasure of each other service, in order; each returns the number of removed rows. Transcripts come before
 * conversations: they are found by speaker, and erasing a conversation removes its remaining transcript.
 */
export function otherServices(
  bus: Bus,
  person: ErasedPerson,
  { dryRun, by, context }: EraseOptions,
): readonly { readonly service: Exclude<ErasedService, 'directory'>; readonly erase: () => Promise<Counts> }[] {
  const common = { dry_run: dryRun, by };
  const { id, name, former, account_ids: accountIds, visitor_ids: visitors, telegram_user_ids: users } = person;
  const accounts = { account_ids: [...accountIds] };
  // A merge may not have reached every service yet. The surviving id is last, to include rows that the merge moves
  // meanwhile.
  const ids = [...new Set(former.map(({ person_id: formerId }) => formerId).filter((formerId) => formerId !== id)), id];
  const eachId = async (erase: (person_id: number) => Promise<Counts>): Promise<Counts> => {
    let total: Counts = {};
    for (const personId of ids) total = sum(total, await erase(personId));
    return total;
  };
  const emails = person.emails.filter((email) => email.length >= shortestEmail);
  return [
    {
      service: 'transcripts',
      erase: () =>
        eachId((person_id) =>
          eachPage((after) => bus.call(transcripts.rpcs.erasePerson, { person_id, after, ...common }, context)),
        ),
    },
    {
      service: 'conversations',
      erase: () =>
        eachId((person_id) =>
          eachPage((after) =>
            bus.call(
              conversations.rpcs.erasePerson,
              { person_id, emails, name, ...accounts, after, ...common },
              context,
            ),
          ),
        ),
    },
    {
      service: 'media',
      erase: () =>
        eachId(
          async (person_id) =>
            (await bus.call(media.rpcs.erasePerson, { person_id, ...accounts, ...common }, context)).counts,
        ),
    },
    {
      service: 'agents',
      erase: async () => {
        const chats = { visitor_ids: [...visitors], telegram_user_ids: [...users] };
        return (await bus.call(agents.rpcs.erasePerson, { ...chats, ...common }, context)).counts;
      },
    },
    {
      service: 'events',
      erase: () =>
        eachId(
          async (person_id) =>
            (await bus.call(events.rpcs.erasePerson, { person_id, ...accounts, ...common }, context)).counts,
        ),
    },
  ];
}

function sum(total: Counts, counts: Counts): Counts {
  const names = new Set([...Object.keys(total), ...Object.keys(counts)]);
  return Object.fromEntries([...names].map((name) => [name, (total[name] ?? 0) + (counts[name] ?? 0)]));
}

async function eachPage(
  read: (after: number) => Promise<{ readonly counts: Counts; readonly next: number | null }>,
): Promise<Counts> {
  let total: Counts = {};
  for (let after: number | null = 0; after !== null;) {
    const page: Awaited<ReturnType<typeof read>> = await read(after);
    total = sum(total, page.counts);
    after = page.next;
  }
  return total;
}
