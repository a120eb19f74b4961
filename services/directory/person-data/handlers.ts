/** `people export` and `people erase` of the admin CLI: the directory's part. */
import { appError } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { rawJson, type Handlers } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { emailThrottleKey, forgetAttempts, revokeAccountSessions } from '../accounts/index.ts';
import { directory } from '../contract.ts';
import { isPossibleId } from '../possible-id.ts';
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
} from './statements.ts';

type PersonDataHandlers = Pick<Handlers<typeof directory>, 'identifyPerson' | 'exportPerson' | 'suspendPerson' | 'erasePerson'>;

const itemsPerPage = 500;
/** Shorter names are parts of other words too often. */
const shortestName = 3;

/** Ends the transaction of a dry run. */
class DryRun extends Error {}

export function createPersonDataHandlers({ db, jobs }: { readonly db: Database; readonly jobs: Jobs }): PersonDataHandlers {
  return {
    identifyPerson: async ({ who }) => {
      const { id, name } = await findPerson(db, who.trim());
      const { emails, account_ids: accounts, telegram } = await findIdentity(db, { personId: id });
      const telegramUserId = /^[1-9][0-9]{0,14}$/.test(telegram ?? '') ? Number(telegram) : null;
      return { id, name, emails: [...emails], account_ids: [...accounts], telegram_user_id: telegramUserId };
    },
    exportPerson: async ({ person_id: id, part, after }) => {
      const rows = await exportParts[part](db, { personId: id, after, limit: itemsPerPage });
      const next = rows.length < itemsPerPage ? null : (rows.at(-1)?.id ?? null);
      return rawJson(`{"items":[${rows.map(({ item }) => item).join(',')}],"next":${JSON.stringify(next)}}`);
    },
    suspendPerson: ({ person_id: id }) =>
      jobs.transaction(async (tx) => {
        const accounts = await deactivateAccounts(tx, { personId: id });
        await revokeSessions(tx, jobs, id);
        return { accounts: accounts.length };
      }),
    erasePerson: async ({ person_id: id, operator, dry_run: dryRun }) => {
      const counts: Record<string, number> = {};
      const work = jobs.transaction(async (tx) => {
        await revokeSessions(tx, jobs, id);
        const { emails } = await findIdentity(tx, { personId: id });
        await forgetAttempts(tx, { emailKeys: emails.map(emailThrottleKey) });
        const person = await findPersonById(tx, { id });
        const names = [person?.name ?? '', ...emails].filter(({ length }) => length >= shortestName);
        for (const text of names) await removeFromNotes(tx, { personId: id, text });
        for (const [what, step] of Object.entries(eraseSteps)) counts[what] = (await step(tx, { personId: id })).length;
        if (dryRun) throw new DryRun();
        if ((counts['people'] ?? 0) === 0) return;
        await recordErasure(tx, { personId: id, operator, counts: JSON.stringify(counts) });
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
  const accounts = await listAccountIds(tx, { personId });
  const rows = await revokeAccountSessions(tx, { accountIds: accounts.map(({ id }) => id) });
  const keys = rows.map((row) => row.session_key);
  if (keys.length > 0) await jobs.emit(tx, directory.events.sessionsRevoked, { session_keys: keys });
}

/** @throws AppError 404 `person_not_found`, 409 `person_ambiguous` */
async function findPerson(db: Database, who: string): Promise<{ id: number; name: string | null }> {
  const id = /^[1-9][0-9]{0,9}$/.test(who) ? Number(who) : undefined;
  if (id !== undefined && isPossibleId(id)) {
    const byId = await findPersonById(db, { id });
    if (byId !== undefined) return byId;
    // An erasure that was broken off after its last step in the directory can be taken up by the id alone.
    if ((await findErasure(db, { personId: id })) !== undefined) return { id, name: null };
  }
  const byKey = await findPersonByKeyOf(db, { key: who });
  if (byKey !== undefined) return byKey;
  const [first, ...others] = who.includes('@') ? await findPeopleByEmail(db, { email: who }) : [];
  if (first === undefined) throw appError('not_found', 'person_not_found', `There is no person with the id, key or email "${who}".`);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((person) => person.id);
  throw appError('conflict', 'person_ambiguous', `Several people have that email: ${ids.join(', ')}. Name one by id.`, { person_ids: ids });
}
