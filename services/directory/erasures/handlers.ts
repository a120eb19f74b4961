/**
 * Starts and shows erasures of people (rules/people#export-and-erasure; W1, W19, W20), and repeats recorded ones after a
 * restore (rules/operations#after-a-restore).
 */
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { isPossibleId, type ChangeOrigin } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import {
  type Bus,
  type HandlersOf,
  rawJson,
  type RequestContext,
  withOutcome,
  withoutActor,
} from '#libs/infrastructure/nats';
import { transactionOrDryRun, type Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { agents } from '#services/agents';
import type { Dependencies } from '../dependencies.ts';
import { retainSuperuser } from '../accounts/index.ts';
import { getPerson } from '../api-objects/index.ts';
import { checkIfMatch } from '../lists/index.ts';
import { closeAccounts, eraseFromDirectory, findPersonIdentity, findSurvivor } from '../person-data/index.ts';
import { lockRowsOfPeople } from '../person-rows/index.ts';
import { erasedServices, erasureJobs, type erasureRpcs } from './contract.ts';
import { type Chats, type Counts, type ErasedPerson, erasureContext, identifyErased, otherServices } from './erase.ts';
import { findLatestErasure, getErasure, lockUnfinished, startErasure } from './statements.ts';

type Deps = Pick<Dependencies, 'db' | 'jobs' | 'bus' | 'idempotency' | 'eventOutbox' | 'history'>;
type Operations = HandlersOf<typeof erasureRpcs>;

/** ChangeOrigin of erasures by the admin CLI. */
const operatorOfCli: ChangeOrigin = { account_id: null, key_id: null, via: null };

export function createErasureHandlers(deps: Deps): Operations {
  return { ...createClientHandlers(deps), repeatErasure: createRepeatErasure(deps) };
}

function createClientHandlers(deps: Deps): Pick<Operations, 'erasePerson' | 'getErasure'> {
  const { db, idempotency } = deps;
  return {
    erasePerson: async (request, context) => {
      const {
        person_id: id,
        confirm,
        if_match: condition,
        visitor_ids: visitors = [],
        telegram_user_ids: users = [],
      } = request;
      const { actor } = context;
      if (actor?.kind !== 'user' || !actor.superuser) throw await denied(db, id);
      const by = { account_id: actor.accountId, key_id: actor.key?.id ?? null, via: context.via ?? null };
      const chats = { visitor_ids: visitors, telegram_user_ids: users };
      const identify = async (tx: Tx): Promise<ErasedPerson> => {
        if (!isPossibleId(id)) throw notFound();
        if ((await lockRowsOfPeople(tx, [id])).length === 0) throw notFound();
        await checkIfMatch(condition, () => getPerson(tx, { id }));
        const person = await identifyErased(tx, id, chats);
        if (confirm !== person.name) throw badRequest('confirm must be the exact name of the person.');
        return person;
      };
      if (request.dry_run === true) return withOutcome(await preview(deps, identify, by, context), 'counted');
      const start = async (tx: Tx) => {
        const person = await identify(tx);
        const erasureId = await begin(tx, deps, { person, by, operator: `account ${actor.accountId}` }, context);
        return { erasure: { id: erasureId, state: 'running' as const } };
      };
      // The compared request has no field of a person id: the stored response remains when the person is erased.
      const compared = { erased: String(id), confirm, visitors, users };
      return idempotency.run(context, compared, (tx) => retainSuperuser(tx, () => start(tx)), { isAuthorized: true });
    },
    getErasure: async ({ person_id: id }, { actor }) => {
      if (actor?.kind !== 'user' || !actor.superuser) throw await denied(db, id);
      const row = isPossibleId(id) ? await findLatestErasure(db, { personId: id }) : undefined;
      if (row === undefined) throw notFound();
      return rawJson(`{"erasure":${row.item}}`);
    },
  };
}

/** Counts the rows that an erasure would remove, by service. @throws AppError as the erasure */
async function preview(
  deps: Deps,
  identify: (tx: Tx) => Promise<ErasedPerson>,
  by: ChangeOrigin,
  context: RequestContext,
): Promise<{ counts: Record<string, Counts> }> {
  const { jobs, bus } = deps;
  const { person, directory } = await transactionOrDryRun(jobs, true, (tx) =>
    retainSuperuser(tx, async () => {
      const found = await identify(tx);
      const own = erasureContext(context.requestId, by);
      return {
        person: found,
        directory: await eraseFromDirectory(tx, deps, { id: found.id, operator: '', dryRun: true }, own),
      };
    }),
  );
  const counts: Record<string, Counts> = {};
  const options = { dryRun: true, by, context: withoutActor(context) };
  for (const { service, erase } of otherServices(bus, person, options)) counts[service] = await erase();
  return { counts: { ...counts, directory } };
}

function createRepeatErasure(deps: Deps): Operations['repeatErasure'] {
  const { db, jobs, bus } = deps;
  return async ({ person_id: id, digest, erasure_id: started, ...chats }, context) => {
    if (started !== undefined) {
      const row = await getErasure(db, { id: started });
      if (row === undefined) throw notFound();
      return rawJson(`{"outcome":"started","person_id":${id},"erasure":${row.item}}`);
    }
    const found = id === null ? undefined : await findSurvivor(db, id);
    const run = found === undefined ? undefined : await repeat(found.id);
    if (run !== undefined) return rawJson(`{"outcome":"started","person_id":${found?.id},"erasure":${run}}`);
    await forgetChats(bus, chats, context);
    if (id === null) return { outcome: 'chats', person_id: null, erasure: null };
    return { outcome: found?.id === id ? 'other' : 'gone', person_id: id, erasure: null };

    /** Returns the started erasure; undefined when the record is about another person. */
    function repeat(personId: number): Promise<string | undefined> {
      return jobs.transaction(async (tx) => {
        if ((await lockRowsOfPeople(tx, [personId])).length === 0) return undefined;
        const person = await identifyErased(tx, personId, chats);
        if (!isAbout(digest, person)) return undefined;
        const erasureId = await begin(tx, deps, { person, by: operatorOfCli, operator: 'restore' }, context);
        return (await getErasure(tx, { id: erasureId }))?.item;
      });
    }
  };
}

/** Whether a record with this digest is about the person. A merge since the restore can have changed id and digest. */
const isAbout = (digest: string | null, person: ErasedPerson): boolean =>
  digest !== null && [person.digest, ...person.former.map((former) => former.digest)].includes(digest);

async function forgetChats(bus: Bus, chats: Chats, context: RequestContext): Promise<void> {
  if (chats.visitor_ids.length + chats.telegram_user_ids.length === 0) return;
  const request = {
    visitor_ids: [...chats.visitor_ids],
    telegram_user_ids: [...chats.telegram_user_ids],
    dry_run: false,
    by: operatorOfCli,
  };
  await bus.call(agents.rpcs.erasePerson, request, withoutActor(context));
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
