/**
 * Handlers of holons: reads, visibility for other services, and updates (rules/holons#holons,
 * rules/holons#update-a-holon; D46a, D47, D48, D49).
 */
import { type Actor, isPossibleId, type RequestOf } from '#libs/contract';
import { AppError, badRequest, notFound } from '#libs/errors';
import { entityTag } from '#libs/etag';
import { isJsonObject, type JsonObject, parseJson } from '#libs/json';
import { type Handler, type HandlersOf, rawJson, withEtag } from '#libs/nats';
import type { Tx } from '#libs/orm';
import type { Dependencies } from '../dependencies.ts';
import { checkInfoFields, readInfoFields } from '../classes/index.ts';
import { holonEvents, journeyEvents } from '../events/contract.ts';
import { emitWritten } from '../events/index.ts';
import { bodyOf, checkIfMatch, readAfter, readSort, recordPage, sampleShort } from '../lists/index.ts';
import { readViewer, type Viewer } from '../visibility/index.ts';
import type { HolonListQuery, holonRpcs } from './contract.ts';
import { checkHolonFields, describeChanges, type HolonState, mergeInfos } from './rules.ts';
import {
  attach,
  findActiveSpheres,
  findJourneyIds,
  getHolon,
  getHolonBySlug,
  getHolons,
  getWrittenHolon,
  type LockedHolon,
  lockHolon,
  type SavedHolon,
  saveHolon,
} from './statements/holon.ts';
import {
  findCoveredHolons,
  findHolons,
  getHolonSubtree,
  getVisibleHolons,
  listCoveredHolons,
  listHolons,
  listHolonsOfClass,
} from './statements/lists.ts';

export function createHolonHandlers(
  deps: Pick<Dependencies, 'db' | 'jobs' | 'idempotency' | 'eventOutbox'>,
): HandlersOf<typeof holonRpcs> {
  return {
    ...createHolonReadHandlers(deps),
    ...createVisibleHolonHandlers(deps),
    updateHolon: createUpdateHolon(deps),
  };
}

type HolonReadHandlers = Pick<
  HandlersOf<typeof holonRpcs>,
  'getHolons' | 'listHolons' | 'searchHolons' | 'getHolon' | 'getHolonBySlug'
>;

function createHolonReadHandlers({ db }: Pick<Dependencies, 'db'>): HolonReadHandlers {
  const list = async (request: HolonListQuery, viewer: Viewer) => {
    const { q, class: slug, parent, sort, limit = recordPage, offset = 0, ...after } = request;
    const order = readSort(sort);
    if (q === undefined && slug === undefined) throw badRequest('At least one of q and class must be given.');
    const { name, description } = await sampleShort(db, 'holons', q ?? '');
    const isRare = q !== undefined && q !== '' && !name && !description;
    const lists = isRare ? findHolons : slug === undefined ? listHolons : listHolonsOfClass;
    const row = await lists[order](db, { text: q, class: slug, parent, ...readAfter(after), limit, offset, ...viewer });
    if (row === undefined) throw badRequest(`class "${slug}" is not an active class.`);
    return bodyOf(row);
  };
  return {
    getHolons: async ({ ids = [], slugs = [] }) => bodyOf(await getHolons(db, { ids, slugs })),
    listHolons: (request, { actor }) => list(request, readViewer(actor)),
    searchHolons: (request) => list(request, { seesAll: true, accountId: null }),
    getHolon: async ({ holon_id: id }, { actor }) => bodyOf(await getHolon(db, { id, ...readViewer(actor) })),
    getHolonBySlug: async ({ slug }, { actor }) => bodyOf(await getHolonBySlug(db, { slug, ...readViewer(actor) })),
  };
}

type VisibleHolonHandlers = Pick<
  HandlersOf<typeof holonRpcs>,
  'holonSubtree' | 'wholeSubtree' | 'visibleHolons' | 'coveredHolons'
>;

export function createVisibleHolonHandlers({ db }: Pick<Dependencies, 'db'>): VisibleHolonHandlers {
  return {
    holonSubtree: async ({ slug }, { actor }) => bodyOf(await getHolonSubtree(db, { slug, ...readViewer(actor) })),
    wholeSubtree: async ({ slug }) => bodyOf(await getHolonSubtree(db, { slug, seesAll: true, accountId: null })),
    visibleHolons: async ({ account_id: accountId, ids = [], slugs = [] }) =>
      bodyOf(await getVisibleHolons(db, { ids, slugs, accountId })),
    coveredHolons: async ({ account_id: accountId, ids }) =>
      bodyOf(
        await (ids === undefined ? listCoveredHolons(db, { accountId }) : findCoveredHolons(db, { accountId, ids })),
      ),
  };
}

type Request = RequestOf<typeof holonRpcs.updateHolon>;

function createUpdateHolon({
  jobs,
  idempotency,
  eventOutbox,
}: Pick<Dependencies, 'jobs' | 'idempotency' | 'eventOutbox'>): Handler<typeof holonRpcs.updateHolon> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const { holon_id: id } = request;
      const { actor } = context;
      const holon = await lockForEditing(tx, request, actor);
      await checkIfMatch(request.if_match, () => getWrittenHolon(tx, { id, ...readViewer(actor) }));
      const checked = checkHolonFields(request, holon.name_read_only);
      const fields = checkInfoFields(
        readInfoFields(parseJson(holon.info_field_groups)),
        (request.info_fields ?? {}) as JsonObject,
      );
      const spheres = await checkIds(tx, findActiveSpheres, request.spheres, 'spheres: no active sphere has the id');
      const journeyIds = await checkIds(tx, findJourneyIds, request.journey_ids, 'journey_ids: no journey has the id');

      const before = readState(holon, holon.journey_ids);
      const infos = mergeInfos(before.infos, fields, { locations: checked.locations, spheres });
      const links = checked.links === undefined ? null : JSON.stringify(checked.links);
      const { name, description } = checked;
      const saved = await saveHolon(tx, {
        id,
        name,
        description,
        links,
        infosToRemove: infos.remove,
        infosToSet: JSON.stringify(infos.set),
      });
      const attachments = journeyIds === undefined ? [] : [{ owner_id: id, targets: journeyIds }];
      const reattached =
        attachments.length === 0 ? [] : await attach.holon_journeys(tx, { attachments: JSON.stringify(attachments) });
      const after = readState(saved ?? holon, journeyIds ?? holon.journey_ids);

      if (saved !== undefined || reattached.length > 0) {
        await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
        await emitWritten(eventOutbox, tx, 'holon', 'updated', [id]);
      }
      if (reattached.length > 0) {
        const ids = [...new Set([...before.journey_ids, ...after.journey_ids])];
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids });
      }
      const written = await getWrittenHolon(tx, { id, ...readViewer(actor) });
      const changes = describeChanges(before, after, [...Object.keys(fields.set), ...fields.remove]);
      return withEtag(
        rawJson(`{"holon":${written.body},"changes":${JSON.stringify(changes)}}`),
        entityTag(written.body),
      );
    });
}

/**
 * Locks a holon for an update. @throws AppError 404 if the holon does not exist or is invisible, 403 without the
 * required rights
 */
async function lockForEditing(
  tx: Tx,
  { holon_id: id, journey_ids: journeys }: Request,
  actor: Actor | undefined,
): Promise<LockedHolon> {
  const viewer = readViewer(actor);
  const holon = isPossibleId(id) ? await lockHolon(tx, { id, ...viewer }) : undefined;
  if (holon === undefined) throw notFound();
  if (!holon.can_edit) throw new AppError({ code: 'permission_denied', message: 'You cannot edit this holon.' });
  if (journeys !== undefined && !viewer.seesAll) {
    throw new AppError({ code: 'permission_denied', message: 'Setting journey_ids requires global edit access.' });
  }
  return holon;
}

/** Returns the ids without duplicates, in order. @throws AppError 400 for an unknown id */
async function checkIds(
  tx: Tx,
  find: typeof findActiveSpheres | typeof findJourneyIds,
  given: readonly number[] | undefined,
  problem: string,
): Promise<number[] | undefined> {
  if (given === undefined) return undefined;
  const ids = [...new Set(given)];
  const possible = ids.filter(isPossibleId);
  const known = new Set((await find(tx, { ids: possible })).map(({ id }) => id));
  const unknown = ids.find((id) => !known.has(id));
  if (unknown !== undefined) throw badRequest(`${problem} ${unknown}.`);
  return ids;
}

function readState(row: SavedHolon, journeyIds: readonly number[]): HolonState {
  const [links, infos] = [row.links, row.infos].map((text) => {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  }) as [JsonObject, JsonObject];
  return { name: row.name, description: row.description, links, infos, journey_ids: journeyIds };
}
