/**
 * Handlers of memberships: lists, creation, updates, deletion and bulk-add (rules/memberships#membership-lists,
 * rules/memberships#updates, rules/memberships#bulk-add; D41, D45 to D48, D50, W3).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError, appError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import type { HistoryContext } from '#libs/product/history';
import { type HandlersOf, rawJson, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Dependencies } from '../dependencies.ts';
import { emitMembership, emitWritten } from '../events/index.ts';
import { bodyOf } from '../lists/index.ts';
import { createNote } from '../notes/index.ts';
import { readViewer } from '../visibility/index.ts';
import {
  type DateSpan,
  deleteWorkflow,
  findJourneysFor,
  findPeople,
  isFollowUpPeriod,
  type JourneyStep,
  spanOf,
  type Today,
  updateWorkflow,
  type WorkflowDependencies,
  type WorkflowKind,
} from '../workflow/index.ts';
import {
  type BulkAdd,
  type BulkAdded,
  type HolonMembershipsQuery,
  type membershipRpcs,
  membershipsPerPage,
} from './contract.ts';
import { createMembership, getMembershipJson, translateDuplicate } from './new-membership.ts';
import { type BulkFacts, type BulkItem, type BulkJourney, decideBulk, type NewMembership, tripleKey } from './rules.ts';
import {
  findHolonMemberships,
  isMembershipSort,
  listHolonMemberships,
  listPersonMemberships,
} from './statements/lists.ts';
import {
  findMembership,
  findPresent,
  insertMemberships,
  lockMembership,
  type MembershipRow,
  readMembership,
  removeMembership,
  saveMembership,
  tryLockHolonForBulkAdd,
} from './statements/writes.ts';

export function createMembershipHandlers(
  deps: Pick<Dependencies, 'config' | 'db' | 'today' | 'idempotency' | 'eventOutbox' | 'history'>,
): HandlersOf<typeof membershipRpcs> {
  return {
    ...createListHandlers(deps),
    ...createWriteHandlers(deps),
    ...createBulkAddHandlers(deps),
  };
}

type MembershipListHandlers = Pick<HandlersOf<typeof membershipRpcs>, 'listPersonMemberships' | 'listHolonMemberships'>;

function createListHandlers({ db, today }: Pick<Dependencies, 'db' | 'today'>): MembershipListHandlers {
  return {
    listPersonMemberships: async ({ person_id: personId, limit = membershipsPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listPersonMemberships(db, { personId, limit, offset, ...readViewer(actor) })),
    listHolonMemberships: async ({ holon_id: holonId, ...query }, { actor }) => {
      const { sort = 'name', limit = membershipsPerPage, offset = 0, q: text } = query;
      if (!isMembershipSort(sort)) throw badRequest(`sort must not be "${sort}".`);
      const { kind, span } = readFollowUp(query.follow_up, today);
      const { journey, step_slug: step, responsible_person_id: responsiblePersonId } = query;
      const dates = { followUp: kind, from: span?.from, to: span?.to };
      const params = { holonId, journey, step, responsiblePersonId, ...dates, limit, offset, ...readViewer(actor) };
      return bodyOf(
        await (text === undefined
          ? listHolonMemberships[sort](db, params)
          : findHolonMemberships[sort](db, { ...params, text })),
      );
    },
  };
}

function readFollowUp(
  text: HolonMembershipsQuery['follow_up'],
  today: Today,
): { kind: 'none' | 'span' | null; span?: DateSpan } {
  if (text === undefined) return { kind: null };
  if (text === 'none') return { kind: 'none' };
  if (!isFollowUpPeriod(text)) throw badRequest(`follow_up cannot be "${text}".`);
  return { kind: 'span', span: spanOf(new Set([text]), today()) };
}

const membership: WorkflowKind = {
  name: 'membership',
  lock: lockMembership,
  find: findMembership,
  save: saveMembership,
  read: readMembership,
  remove: removeMembership,
  emit: (eventOutbox, tx, what, id, { personIds: [personId = 0], holonIds: [holonId = 0], ...onJourney }) =>
    emitMembership(eventOutbox, tx, what, id, { person_id: personId, holon_id: holonId, ...onJourney }),
};

type MembershipWriteHandlers = Pick<
  HandlersOf<typeof membershipRpcs>,
  'createMembership' | 'updateMembership' | 'deleteMembership'
>;

function createWriteHandlers(
  deps: Pick<Dependencies, 'db' | 'idempotency' | 'eventOutbox' | 'history'>,
): MembershipWriteHandlers {
  const { db, idempotency, eventOutbox } = deps;
  return {
    createMembership: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { person_id: personId, holon_id: holonId, note } = request;
        const id = await createMembership(
          deps,
          tx,
          {
            personId,
            holonId,
            journeySlug: request.journey_slug,
            stepSlug: request.step_slug,
            followUpAfter: request.follow_up_after,
            responsiblePersonId: request.responsible_person_id,
          },
          context,
        );
        if (typeof note === 'string') {
          const { actor } = context;
          const authorPersonId = actor?.kind === 'user' ? actor.personId : null;
          const about = { personIds: [personId], holonIds: [holonId], membershipId: id };
          await createNote(eventOutbox, tx, { text: note, authorPersonId, ...about });
        }
        const { body, tag } = await getMembershipJson(tx, id, readViewer(context.actor));
        return withEtag(rawJson(`{"membership":${body}}`), entityTag(tag));
      }),
    updateMembership: (request, context) =>
      idempotency.run(context, request, async (tx) => {
        const { membership_id: id, ...update } = request;
        try {
          return await updateWorkflow(deps, tx, membership, id, update, context);
        } catch (error) {
          throw translateDuplicate(error);
        }
      }),
    deleteMembership: ({ membership_id: id, if_match: ifMatch }, context) =>
      db.transaction(async (tx) => {
        await deleteWorkflow(deps, tx, membership, { id, ifMatch }, context);
        return {};
      }),
  };
}

/** Interval of retries while another bulk write has the lock. */
const pollMs = 50;

export function createBulkAddHandlers({
  config,
  idempotency,
  ...deps
}: Pick<Dependencies, 'idempotency' | 'eventOutbox' | 'history'> & {
  readonly config: Pick<Dependencies['config'], 'BULK_ADD_WAIT_MS'>;
}): Pick<HandlersOf<typeof membershipRpcs>, 'bulkAddMemberships'> {
  return {
    bulkAddMemberships: async (fullRequest, context) => {
      const { holon_id: holonId, ...request } = fullRequest;
      const deadline = performance.now() + config.BULK_ADD_WAIT_MS;
      for (;;) {
        // A waiting call uses no connection. Otherwise a few overlapping calls would exhaust the pool.
        const added = await idempotency.run(context, fullRequest, (tx) =>
          addUnderLock(deps, tx, holonId, request, context),
        );
        if (added !== undefined) return added;
        if (performance.now() >= deadline) throw inProgress();
        await sleep(pollMs * (1 + Math.random()));
      }
    },
  };
}

function inProgress(): AppError {
  return appError('conflict', 'bulk_in_progress', 'Another bulk write of this holon is in progress. Try again.', {
    retryable: true,
  });
}

/**
 * Adds the memberships. Returns undefined while another bulk write has the lock. The number of statements does not
 * depend on the number of items.
 */
async function addUnderLock(
  { eventOutbox, history }: WorkflowDependencies,
  tx: Tx,
  holonId: number,
  request: BulkAdd,
  context: HistoryContext,
): Promise<BulkAdded | undefined> {
  const own = await tryLockHolonForBulkAdd(tx, { holonId, ...readViewer(context.actor) });
  if (own === undefined || !own.visible) throw notFound();
  if (!own.editable) throw new AppError({ code: 'permission_denied', message: 'You cannot edit this holon.' });
  if (own.locked !== true) return undefined;
  const items = request.memberships.map((item): BulkItem => {
    return {
      personId: item.person_id,
      journeySlug: item.journey_slug ?? request.journey_slug ?? null,
      stepSlug: item.step_slug ?? request.step_slug,
      followUpAfter: item.follow_up_after ?? null,
      responsiblePersonId: item.responsible_person_id ?? null,
    };
  });
  const facts = await findFacts(tx, holonId, items);
  const { decisions, added } = decideBulk(items, facts);
  const ids = await insert(tx, holonId, added, facts.present);
  const created = [...ids.written.values()];
  await emitWritten(eventOutbox, tx, 'membership', 'created', created);
  history.created(tx, context, 'memberships', created);
  return report(items, decisions, ids);
}

async function findFacts(tx: Tx, holonId: number, items: readonly BulkItem[]): Promise<BulkFacts> {
  const idsOf = (values: readonly (number | null)[]): number[] =>
    [...new Set(values)].filter((id) => id !== null && isPossibleId(id)) as number[];
  const people = idsOf(items.map(({ personId }) => personId));
  const responsible = idsOf(items.map(({ responsiblePersonId }) => responsiblePersonId));
  const slugs = [...new Set(items.flatMap(({ journeySlug }) => journeySlug ?? []))];
  const [found, journeyRows] = await Promise.all([
    findPeople(tx, { ids: [...people, ...responsible] }),
    findJourneysFor(tx, { holonId, slugs }),
  ]);
  const journeys = journeyRows.map(({ steps, ...row }): BulkJourney => ({
    ...row,
    steps: JSON.parse(steps) as JourneyStep[],
  }));
  const present = await findPresent(tx, { holonId, personIds: people, journeyIds: journeys.map(({ id }) => id) });
  return {
    people: new Set(found.map(({ id }) => id)),
    accountable: new Set(found.filter((person) => person.has_account).map(({ id }) => id)),
    journeys: new Map(journeys.map((journey) => [journey.slug, journey])),
    present: idsByKey(present),
  };
}

/** Inserts new memberships. @returns ids of existing and new memberships; `written` contains only the new ones */
async function insert(
  tx: Tx,
  holonId: number,
  added: readonly NewMembership[],
  present: ReadonlyMap<string, number>,
): Promise<{ all: ReadonlyMap<string, number>; written: ReadonlyMap<string, number> }> {
  if (added.length === 0) return { all: present, written: new Map() };
  const written = idsByKey(await insertMemberships(tx, { rows: JSON.stringify(added), holonId }));
  // A concurrent writer, e.g. the workspace file, may have inserted these memberships.
  const missing = added.filter((row) => !written.has(tripleKey(row.person_id, row.journey_id)));
  const personIds = missing.map((row) => row.person_id);
  const journeyIds = missing.map((row) => row.journey_id);
  const meanwhile = missing.length === 0 ? [] : await findPresent(tx, { holonId, personIds, journeyIds });
  return { all: new Map([...present, ...idsByKey(meanwhile), ...written]), written };
}

function idsByKey(rows: readonly MembershipRow[]): Map<string, number> {
  return new Map(rows.map((row) => [tripleKey(row.person_id, row.journey_id), row.id]));
}

function report(
  items: readonly BulkItem[],
  decisions: ReturnType<typeof decideBulk>['decisions'],
  { all, written }: { all: ReadonlyMap<string, number>; written: ReadonlyMap<string, number> },
): BulkAdded {
  const results = items.map((item, index): BulkAdded['items'][number] => {
    const { outcome, message, key } = decisions[index] ?? { outcome: 'invalid_field', message: null, key: null };
    const lost = outcome === 'created' && key !== null && !written.has(key);
    return {
      index,
      person_id: item.personId,
      journey_slug: item.journeySlug,
      outcome: lost ? 'already_present' : outcome,
      membership_id: key === null ? null : (all.get(key) ?? null),
      message,
    };
  });
  const countOf = (outcome: string): number => results.filter((result) => result.outcome === outcome).length;
  const [created, alreadyPresent] = [countOf('created'), countOf('already_present')];
  return {
    count: items.length,
    created,
    already_present: alreadyPresent,
    failed: items.length - created - alreadyPresent,
    items: results,
  };
}
