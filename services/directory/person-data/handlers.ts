/** Exports and erases a person in the directory, for `people export` and `people erase` of the admin CLI. */
import { listSome, recordAudit } from '#libs/audit';
import { isPossibleId } from '#libs/contract';
import { appError } from '#libs/errors';
import { removeRecordsOfPerson } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type HandlersOf, jsonPage } from '#libs/nats';
import { type Database, transactionOrDryRun, type Tx } from '#libs/orm';
import type { Dependencies } from '../dependencies.ts';
import { changeTokens, emailThrottleKey, forgetAttempts } from '../accounts/index.ts';
import { peopleEvents } from '../events/contract.ts';
import { emitDeleted, emitErased, emitWritten } from '../events/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import type { personDataRpcs } from './contract.ts';
import {
  deactivateAccounts,
  eraseSteps,
  exportParts,
  findErasure,
  findIdentity,
  findMergedInto,
  findPeopleByEmail,
  findPersonByAlias,
  findPersonById,
  findPersonByKeyOf,
  listAccountIds,
  listMemberships,
  listResponsible,
  recordErasure,
  removeFromNotes,
} from './statements.ts';

type PersonDataHandlers = HandlersOf<typeof personDataRpcs>;

const itemsPerPage = 500;
/** Minimum length of names to remove from notes. Shorter names occur in other words. */
const shortestName = 3;

export function createPersonDataHandlers({
  db,
  jobs,
  eventOutbox,
}: Pick<Dependencies, 'db' | 'jobs' | 'eventOutbox'>): PersonDataHandlers {
  return {
    identifyPerson: async ({ who: reference, merged = false }) => {
      const { id, name } = await findPerson(db, reference.trim(), { ids: merged, names: true });
      const { emails, account_ids: accounts, telegram, digest, former } = await findIdentity(db, { personId: id });
      const known = {
        emails: [...emails],
        account_ids: [...accounts],
        digest,
        former: readFormer(former),
      };
      return { id, name, ...known, telegram_user_ids: telegram.map(Number) };
    },
    exportPerson: async ({ person_id: id, part, after }) => {
      const rows = await exportParts[part](db, { personId: id, after, limit: itemsPerPage });
      const next = rows.length < itemsPerPage ? null : (rows.at(-1)?.id ?? null);
      return jsonPage(
        rows.map(({ item }) => item),
        next,
      );
    },
    suspendPerson: ({ person_id: id }, context) =>
      jobs.transaction(async (tx) => {
        const accounts = await deactivateAccounts(tx, { personId: id });
        await revokeTokens(tx, jobs, id);
        if (accounts.length > 0) {
          const changes = listSome(
            accounts.map((account) => account.id),
            'accounts',
          );
          recordAudit(tx, context, { target: { type: 'person', id }, changes });
        }
        return { accounts: accounts.length };
      }),
    erasePerson: async ({ person_id: id, operator, dry_run: dryRun }, context) => {
      const counts = await transactionOrDryRun(jobs, dryRun, async (tx) => {
        await lockRowsOfPeople(tx, [id]);
        await revokeTokens(tx, jobs, id);
        const { emails, former } = await findIdentity(tx, { personId: id });
        await forgetAttempts(tx, { emailKeys: emails.map(emailThrottleKey) });
        const person = await findPersonById(tx, { id });
        const names = [person?.name ?? '', ...emails].filter(({ length }) => length >= shortestName);
        for (const text of names) await removeFromNotes(tx, { personId: id, text });
        const accounts = await listAccountIds(tx, { personId: id });
        const [memberships, relationships] = [
          await listResponsible.memberships(tx, { personId: id }),
          await listResponsible.relationships(tx, { personId: id }),
        ];
        await emitDeleted(eventOutbox, tx, 'membership', idsOf(await listMemberships(tx, { personId: id })));
        const counted: Record<string, number> = {};
        for (const [what, step] of Object.entries(eraseSteps))
          counted[what] = (await step(tx, { personId: id })).length;
        // Idempotency records are removed last, to include records that concurrent requests stored meanwhile.
        for (const personId of new Set([id, ...readFormer(former).map((of) => of.person_id)]))
          await removeRecordsOfPerson(tx, { personId, accountIds: idsOf(accounts) });
        if (!dryRun && counted['people'] === 0) await rejectMerged(tx, id);
        if (dryRun || (counted['people'] ?? 0) === 0) return counted;
        await recordErasure(tx, { personId: id, operator, counts: JSON.stringify(counted) });
        await jobs.emit(tx, peopleEvents.peopleChanged, { ids: [id] });
        emitErased(eventOutbox, tx, id);
        await emitWritten(eventOutbox, tx, 'membership', 'updated', idsOf(memberships));
        await emitWritten(eventOutbox, tx, 'relationship', 'updated', idsOf(relationships));
        recordAudit(tx, context, { target: { type: 'person', id }, changes: { removed: counted } });
        return counted;
      });
      return { counts };
    },
  };
}

const readFormer = (former: string) => JSON.parse(former) as { person_id: number; digest: string }[];

/** Throws if the person was merged during the erasure. @throws AppError 409 `person_merged` */
async function rejectMerged(tx: Tx, id: number): Promise<void> {
  const now = await findMergedInto(tx, { mergedId: id });
  if (now === undefined) return;
  throw appError(
    'conflict',
    'person_merged',
    `Person ${id} was merged into person ${now.id} meanwhile. Erase that person instead.`,
  );
}

const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id);

async function revokeTokens(tx: Tx, jobs: Jobs, personId: number): Promise<void> {
  const accounts = await listAccountIds(tx, { personId });
  await changeTokens(
    tx,
    jobs,
    accounts.map(({ id }) => id),
    'end',
  );
}

/**
 * Finds a person by id, key or email. @param merged whether ids, keys and emails (`names`) of merged people resolve to
 * the surviving person
 * @throws AppError 404 `person_not_found`, 409 `person_ambiguous`
 */
export async function findPerson(
  db: Database,
  reference: string,
  merged: { readonly ids: boolean; readonly names: boolean } = { ids: false, names: false },
): Promise<{ id: number; name: string | null }> {
  const id = /^[1-9][0-9]{0,9}$/.test(reference) ? Number(reference) : undefined;
  if (id !== undefined && isPossibleId(id)) {
    const byId = await findPersonById(db, { id });
    if (byId !== undefined) return byId;
    const now = merged.ids ? await findMergedInto(db, { mergedId: id }) : undefined;
    if (now !== undefined) return now;
    // An erasure that was interrupted after the directory's last step can be resumed only by id.
    if ((await findErasure(db, { personId: id })) !== undefined) return { id, name: null };
  }
  const byKey = await findPersonByKeyOf(db, { key: reference });
  if (byKey !== undefined) return byKey;
  const [first, ...others] = reference.includes('@') ? await findPeopleByEmail(db, { email: reference }) : [];
  const former = first === undefined && merged.names ? await findPersonByAlias(db, { alias: reference }) : undefined;
  if (former !== undefined) return former;
  if (first === undefined)
    throw appError('not_found', 'person_not_found', `No person has the id, key or email "${reference}".`);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((person) => person.id);
  throw appError('conflict', 'person_ambiguous', `Several people have that email: ${ids.join(', ')}. Use an id.`, {
    person_ids: ids,
  });
}
