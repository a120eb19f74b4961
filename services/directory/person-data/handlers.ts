/** `people export` and `people erase` of the admin CLI: the directory's part. */
import { appError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { directory } from '../contract.ts';
import {
  deactivateAccounts,
  eraseSteps,
  exportParts,
  findErasure,
  findIdentity,
  findPeopleByEmail,
  findPersonById,
  findPersonByKeyOf,
  listAccountIds,
  recordErasure,
  removeFromNotes,
  type IdentifiedRow,
  type IdentityRow,
} from './statements.ts';
import { emailThrottleKey, forgetAttempts, revokeAccountSessions } from '../accounts/index.ts';

type PersonDataHandlers = Pick<Handlers<typeof directory>, 'identifyPerson' | 'exportPerson' | 'suspendPerson' | 'erasePerson'>;

const itemsPerPage = 500;
const maxId = 2_147_483_647;
/** Shorter names are parts of other words too often. */
const shortestName = 3;

/** Ends the transaction of a dry run. */
class DryRun extends Error {}

export function createPersonDataHandlers({ db, jobs }: { readonly db: Database; readonly jobs: Jobs }): PersonDataHandlers {
  return {
    identifyPerson: async ({ who }) => {
      const { id, name } = await findPerson(db, who.trim());
      const [identity] = await db.query<IdentityRow>(findIdentity, [id]);
      const telegram = /^[1-9][0-9]{0,14}$/.test(identity?.telegram ?? '') ? Number(identity?.telegram) : null;
      return { id, name, emails: identity?.emails ?? [], account_ids: identity?.account_ids ?? [], telegram_user_id: telegram };
    },
    exportPerson: async ({ person_id: id, part, after }) => {
      const rows = await db.query<{ id: number; item: string }>(exportParts[part], [id, after, itemsPerPage]);
      const next = rows.length < itemsPerPage ? null : (rows.at(-1)?.id ?? null);
      return rawJson(`{"items":[${rows.map(({ item }) => item).join(',')}],"next":${JSON.stringify(next)}}`);
    },
    suspendPerson: ({ person_id: id }) =>
      jobs.transaction(async (tx) => {
        const accounts = await tx.query(deactivateAccounts, [id]);
        await revokeSessions(tx, jobs, id);
        return { accounts: accounts.length };
      }),
    erasePerson: async ({ person_id: id, operator, dry_run: dryRun }) => {
      const counts: Record<string, number> = {};
      const work = jobs.transaction(async (tx) => {
        await revokeSessions(tx, jobs, id);
        const [identity] = await tx.query<IdentityRow>(findIdentity, [id]);
        await tx.query(forgetAttempts, [(identity?.emails ?? []).map(emailThrottleKey)]);
        const [person] = await tx.query<IdentifiedRow>(findPersonById, [id]);
        const names = [person?.name ?? '', ...(identity?.emails ?? [])].filter(({ length }) => length >= shortestName);
        for (const text of names) await tx.query(removeFromNotes, [id, text]);
        for (const [what, step] of Object.entries(eraseSteps)) counts[what] = (await tx.query(step, [id])).length;
        if (dryRun) throw new DryRun();
        if ((counts['people'] ?? 0) === 0) return;
        await tx.query(recordErasure, [id, operator, JSON.stringify(counts)]);
        await jobs.emit(tx, directory.events.peopleChanged, { ids: [id] });
      });
      await work.catch((error: unknown) => {
        if (!(error instanceof DryRun)) throw error;
      });
      return { counts };
    },
  };
}

async function revokeSessions(tx: Tx, jobs: Jobs, personId: number): Promise<void> {
  const accounts = await tx.query<{ id: number }>(listAccountIds, [personId]);
  const rows = await tx.query<{ session_key: string }>(revokeAccountSessions, [accounts.map(({ id }) => id)]);
  const keys = rows.map((row) => row.session_key);
  if (keys.length > 0) await jobs.emit(tx, directory.events.sessionsRevoked, { session_keys: keys });
}

/** @throws AppError 404 `person_not_found`, 409 `person_ambiguous` */
async function findPerson(db: Database, who: string): Promise<{ id: number; name: string | null }> {
  const id = /^[1-9][0-9]{0,9}$/.test(who) ? Number(who) : undefined;
  if (id !== undefined && id <= maxId) {
    const [byId] = await db.query<IdentifiedRow>(findPersonById, [id]);
    if (byId !== undefined) return byId;
    // An erasure that was broken off after its last step in the directory can be taken up by the id alone.
    if ((await db.query(findErasure, [id])).length > 0) return { id, name: null };
  }
  const [byKey] = await db.query<IdentifiedRow>(findPersonByKeyOf, [who]);
  if (byKey !== undefined) return byKey;
  const [first, ...others] = who.includes('@') ? await db.query<IdentifiedRow>(findPeopleByEmail, [who]) : [];
  if (first === undefined) throw appError('not_found', 'person_not_found', `There is no person with the id, key or email "${who}".`);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((person) => person.id);
  throw appError('conflict', 'person_ambiguous', `Several people have that email: ${ids.join(', ')}. Name one by id.`, { person_ids: ids });
}
