/** Creates a holon (rules/holons#create-and-delete; W2, W13, W14). */
import { AppError, appError, badRequest, unavailable } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type Handler, rawJson, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { checkInfoFields, readInfoFields } from '../../classes/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { holonEvents, journeyEvents } from '../../events/contract.ts';
import { emitWritten } from '../../events/index.ts';
import { readViewer, type Viewer } from '../../visibility/index.ts';
import type { holonRpcs, NewHolon } from '../contract.ts';
import { checkHolonFields, checkName, checkSlug, mergeInfos } from '../rules.ts';
import { slugOf } from '../slugs.ts';
import { attach, findActiveSpheres, findJourneyIds, getHolon } from '../statements/holon.ts';
import { findFreeSlug, findHolonClass, insertHolon } from '../statements/positions.ts';
import { checkIds, checkNewPosition } from './positions.ts';

/** Each attempt fails only if a concurrent creation took the slug that was free before. */
const maxSlugAttempts = 100;

export function createCreateHolon({
  jobs,
  idempotency,
  eventOutbox,
  history,
}: Pick<Dependencies, 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>): Handler<typeof holonRpcs.createHolon> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const viewer = readViewer(context.actor);
      const { values, journeyIds } = await checkNewHolon(tx, request, viewer);
      const id = await insertUnder(tx, request, values);
      if (journeyIds.length > 0) {
        await attach.holon_journeys(tx, { attachments: JSON.stringify([{ owner_id: id, targets: journeyIds }]) });
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids: journeyIds });
      }
      await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
      await emitWritten(eventOutbox, tx, 'holon', 'created', [id]);
      history.created(tx, context, 'holons', [id]);
      const written = await getHolon(tx, { id, ...viewer });
      if (written === undefined) throw new Error(`holon ${id} does not exist`);
      return withEtag(rawJson(`{"holon":${written.body}}`), entityTag(written.tag));
    });
}

type Values = Omit<Parameters<typeof insertHolon>[1], 'slug'>;

/** Checks rights first, then values. @throws AppError 400, 403 */
async function checkNewHolon(
  tx: Tx,
  request: NewHolon,
  viewer: Viewer,
): Promise<{ values: Values; journeyIds: number[] }> {
  if (request.journey_ids !== undefined && !viewer.seesAll) {
    throw new AppError({ code: 'permission_denied', message: 'Setting journey_ids requires global edit access.' });
  }
  const objectClass = await findHolonClass(tx, { slug: request.class });
  const parentId = request.parent_id ?? null;
  await checkNewPosition(tx, { parentId, classId: objectClass?.id ?? 0 }, viewer);
  if (objectClass === undefined) throw badRequest(`class: no active class of holons has the slug "${request.class}".`);
  const { description = '', links = {}, locations } = checkHolonFields(request, false);
  const infoFields = readInfoFields(parseJson(objectClass.info_field_groups));
  const fields = checkInfoFields(infoFields, (request.info_fields ?? {}) as JsonObject);
  const spheres = await checkIds(tx, findActiveSpheres, request.spheres, 'spheres: no active sphere has the id');
  const journeys = await checkIds(tx, findJourneyIds, request.journey_ids, 'journey_ids: no journey has the id');
  const infos = mergeInfos({}, fields, { locations, spheres });
  return {
    values: {
      name: checkName(request.name, false),
      description,
      classId: objectClass.id,
      parentId,
      links: JSON.stringify(links),
      infos: JSON.stringify(infos.set),
    },
    journeyIds: journeys ?? [],
  };
}

/** Inserts the holon with the slug of the request, or with one from its name. @throws AppError 409 slug_taken */
async function insertUnder(tx: Tx, { slug }: NewHolon, values: Values): Promise<number> {
  if (slug !== undefined && slug !== null) {
    checkSlug(slug);
    const row = await insertHolon(tx, { slug, ...values });
    if (row === undefined) throw slugTaken(slug);
    return row.id;
  }
  const base = slugOf(values.name);
  for (let attempt = 0; attempt < maxSlugAttempts; attempt++) {
    const free = await findFreeSlug(tx, { base });
    const row = await insertHolon(tx, { ...free, ...values });
    if (row !== undefined) return row.id;
  }
  throw unavailable('Too many holons with this name are being created; retry.');
}

export const slugTaken = (slug: string): AppError =>
  appError('conflict', 'slug_taken', `Another holon has the slug "${slug}".`);
