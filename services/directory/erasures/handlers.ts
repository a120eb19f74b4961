/** Starts and shows erasures of people, over HTTP and for the CLI (rules/people#export-and-erasure; W1, W19, W20). */
import { type AuditContext, recordAudit } from '#libs/audit';
import { isPossibleId, type ChangeOrigin } from '#libs/contract';
import { AppError, badRequest, notFound } from '#libs/errors';
import { type HandlersOf, rawJson, withoutActor } from '#libs/nats';
import { transactionOrDryRun, type Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import type { Dependencies } from '../dependencies.ts';
import { retainSuperuser } from '../accounts/index.ts';
import { getPerson } from '../api-objects/index.ts';
import { checkIfMatch } from '../lists/index.ts';
import { closeAccounts, eraseFromDirectory, findErasure, findPersonIdentity } from '../person-data/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import { erasedServices, erasureJobs, type erasureRpcs } from './contract.ts';
import { type Chats, type Counts, type ErasedPerson, erasureContext, identifyErased, otherServices } from './erase.ts';
import { findLatestErasure, getErasure, lockUnfinished, startErasure } from './statements.ts';

type Deps = Pick<Dependencies, 'db' | 'jobs' | 'bus' | 'idempotency' | 'eventOutbox' | 'history'>;
type Operations = HandlersOf<typeof erasureRpcs>;

/** ChangeOrigin of erasures by the admin CLI. */
const operatorOfCli: ChangeOrigin = { account_id: null, key_id: null, via: null };

export function createErasureHandlers(deps: Deps): Operations {
  return { ...createClientHandlers(deps), ...createOperatorHandlers(deps) };
}

function createClientHandlers(deps: Deps): Pick<Operations, 'erasePerson' | 'getErasure'> {
  const { db, idempotency } = deps;
  return {
    erasePerson: async ({ person_id: id, confirm, if_match: condition }, context) => {
      const { actor } = context;
      if (actor?.kind !== 'user' || !actor.superuser) throw await denied(db, id);
      const by = { account_id: actor.accountId, key_id: actor.key?.id ?? null, via: context.via ?? null };
      const start = async (tx: Tx) => {
        if (!isPossibleId(id)) throw notFound();
        if ((await lockRowsOfPeople(tx, [id])).length === 0) throw notFound();
        await checkIfMatch(condition, () => getPerson(tx, { id }));
        const person = await identifyErased(tx, id, { visitor_ids: [], telegram_user_ids: [] });
        if (confirm !== person.name) throw badRequest('confirm must be the exact name of the person.');
        const erasureId = await begin(tx, deps, { person, by, operator: `account ${actor.accountId}` }, context);
        return { erasure: { id: erasureId, state: 'running' as const } };
      };
      // The compared request has no field of a person id: the stored response remains when the person is erased.
      return idempotency.run(context, { erased: String(id), confirm }, (tx) => retainSuperuser(tx, () => start(tx)), {
        isAuthorized: true,
      });
    },
    getErasure: async ({ person_id: id }, { actor }) => {
      if (actor?.kind !== 'user' || !actor.superuser) throw await denied(db, id);
      const row = isPossibleId(id) ? await findLatestErasure(db, { personId: id }) : undefined;
      if (row === undefined) throw notFound();
      const run = JSON.parse(row.item) as { readonly services: readonly { readonly counts: unknown }[] };
      const services = run.services.map(({ counts: _counts, ...service }) => service);
      return rawJson(JSON.stringify({ erasure: { ...run, services } }));
    },
  };
}

function createOperatorHandlers(deps: Deps): Pick<Operations, 'startErasure' | 'previewErasure' | 'followErasure'> {
  const { db, jobs, bus } = deps;
  return {
    startErasure: ({ person_id: personId, operator, ...chats }, context) =>
      jobs.transaction(async (tx) => {
        const exists = (await lockRowsOfPeople(tx, [personId])).length > 0;
        if (!exists && (await findErasure(tx, { personId })) === undefined) throw notFound();
        const person = await identifyErased(tx, personId, chats);
        const id = await begin(tx, deps, { person, by: operatorOfCli, operator }, context);
        return rawJson((await getErasure(tx, { id }))?.item ?? 'null');
      }),
    previewErasure: async ({ person_id: personId, ...chats }, context) => {
      const person = await identifyErased(db, personId, chats);
      const options = { dryRun: true, by: operatorOfCli, context: withoutActor(context) };
      const counts: Record<string, Counts> = {};
      for (const { service, erase } of otherServices(bus, person, options)) counts[service] = await erase();
      const own = erasureContext(context.requestId, operatorOfCli);
      counts['directory'] = await transactionOrDryRun(jobs, true, (tx) =>
        eraseFromDirectory(tx, deps, { id: personId, operator: '', dryRun: true }, own),
      );
      return { counts };
    },
    followErasure: async ({ erasure_id: id }) => {
      const row = await getErasure(db, { id });
      if (row === undefined) throw notFound();
      return rawJson(row.item);
    },
  };
}

interface NewErasure {
  readonly person: ErasedPerson;
  readonly by: ChangeOrigin;
  readonly operator: string;
}

/**
 * Closes the accounts of the person, whose rows are locked, and starts the erasure or resumes an unfinished one. Returns
 * its id.
 */
async function begin(
  tx: Tx,
  { jobs }: Pick<Deps, 'jobs'>,
  { person, by, operator }: NewErasure,
  context: AuditContext & { readonly traceparent?: string | undefined },
): Promise<number> {
  const { id: personId } = person;
  const earlier = await lockUnfinished(tx, { personId });
  const { identity, services } = resume(person, earlier);
  await closeAccounts(tx, jobs, personId);
  const { id } = await startErasure(tx, {
    personId,
    identity: JSON.stringify(identity),
    requester: JSON.stringify(by),
    operator,
    services: JSON.stringify(services),
  });
  const { requestId, traceparent } = context;
  await jobs.enqueue(tx, erasureJobs.erasePerson, { erasure_id: id }, { key: String(id), requestId, traceparent });
  recordAudit(tx, context, { target: { type: 'person', id: personId }, changes: { erasure: id } });
  return id;
}

interface StoredService {
  readonly service: string;
  readonly state: string;
  readonly counts: Counts;
}

/** Returns identity and services of an erasure; chats of an unfinished one are included. */
function resume(
  person: ErasedPerson,
  earlier: { readonly identity: string; readonly services: string } | undefined,
): { readonly identity: ErasedPerson; readonly services: readonly StoredService[] } {
  if (earlier === undefined) {
    const services = erasedServices.map((service) => ({ service, state: 'running', error: null, counts: {} }));
    return { identity: person, services };
  }
  const known = JSON.parse(earlier.identity) as ErasedPerson;
  const chats: Chats = {
    visitor_ids: [...new Set([...known.visitor_ids, ...person.visitor_ids])],
    telegram_user_ids: [...new Set([...known.telegram_user_ids, ...person.telegram_user_ids])],
  };
  const hasNewChats =
    chats.visitor_ids.length > known.visitor_ids.length ||
    chats.telegram_user_ids.length > known.telegram_user_ids.length;
  const services = (JSON.parse(earlier.services) as StoredService[]).map((stored) =>
    stored.state === 'done' && !(hasNewChats && stored.service === 'agents') ? stored : { ...stored, state: 'running' },
  );
  return { identity: { ...(person.name === null ? known : person), ...chats }, services };
}

/** Returns the error for a caller without the right: 404 for an unknown person. */
async function denied(db: Queryable, id: number): Promise<AppError> {
  const exists = isPossibleId(id) && (await findPersonIdentity(db, id)).name !== null;
  return exists
    ? new AppError({ code: 'permission_denied', message: 'Only superusers can erase people.' })
    : notFound();
}
