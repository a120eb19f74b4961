/** Updates a holon (rules/holons#update-a-holon; D46a, W2, W14). */
import { type Actor, isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import { type Handler, rawJson, withEtag } from '#libs/infrastructure/nats';
import { constraintOf, type Tx } from '#libs/infrastructure/orm';
import { checkInfoFields, readInfoFields } from '../../classes/index.ts';
import type { Dependencies } from '../../dependencies.ts';
import { holonEvents, journeyEvents } from '../../events/contract.ts';
import { emitWritten } from '../../events/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { lockWorkspace } from '../../person-rows/index.ts';
import { readViewer } from '../../visibility/index.ts';
import type { holonRpcs } from '../contract.ts';
import { checkHolonFields, checkSlug, describeChanges, type HolonState, mergeInfos } from '../rules.ts';
import {
  attach,
  findActiveSpheres,
  findJourneyIds,
  getHolon,
  getTag,
  type LockedHolon,
  lockHolon,
  type SavedHolon,
  saveHolon,
} from '../statements/holon.ts';
import { findAncestor } from '../statements/positions.ts';
import { slugTaken } from './create.ts';
import { checkIds, checkMove } from './positions.ts';

type Request = RequestOf<typeof holonRpcs.updateHolon>;

export function createUpdateHolon({
  jobs,
  idempotency,
  eventOutbox,
  history,
}: Pick<Dependencies, 'jobs' | 'idempotency' | 'eventOutbox' | 'history'>): Handler<typeof holonRpcs.updateHolon> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const { holon_id: id } = request;
      const { actor } = context;
      const holon = await lockForEditing(tx, request, actor);
      await checkIfMatch(request.if_match, () => getTag(tx, { id }));
      const checked = checkHolonFields(request, holon.name_read_only);
      const fields = checkInfoFields(
        readInfoFields(parseJson(holon.info_field_groups)),
        (request.info_fields ?? {}) as JsonObject,
      );
      const spheres = await checkIds(tx, findActiveSpheres, request.spheres, 'spheres: no active sphere has the id');
      const journeyIds = await checkIds(tx, findJourneyIds, request.journey_ids, 'journey_ids: no journey has the id');
      const position = await findNewPosition(tx, request, holon, actor);
      await history.recordChanges(tx, context, 'holons', [id]);

      const before = readState(holon, holon.seen_parent_id, holon.journey_ids);
      const infos = mergeInfos(before.infos, fields, { locations: checked.locations, spheres });
      const { name, description, links } = checked;
      const saved = await save(tx, {
        id,
        name,
        slug: request.slug,
        ...position,
        description,
        links: links === undefined ? null : JSON.stringify(links),
        infosToRemove: infos.remove,
        infosToSet: JSON.stringify(infos.set),
      });
      const attachments = journeyIds === undefined ? [] : [{ owner_id: id, targets: journeyIds }];
      const reattached =
        attachments.length === 0 ? [] : await attach.holon_journeys(tx, { attachments: JSON.stringify(attachments) });
      const parentId = position.moves ? position.parentId : holon.seen_parent_id;
      const after = readState(saved ?? holon, parentId, journeyIds ?? holon.journey_ids);

      if (saved !== undefined || reattached.length > 0) {
        await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
        await emitWritten(eventOutbox, tx, 'holon', 'updated', [id]);
      }
      if (reattached.length > 0) {
        const ids = [...new Set([...before.journey_ids, ...after.journey_ids])];
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids });
      }
      const written = await getHolon(tx, { id, ...readViewer(actor) });
      if (written === undefined) throw new Error(`holon ${id} does not exist`);
      const changes = describeChanges(before, after, [...Object.keys(fields.set), ...fields.remove]);
      return withEtag(
        rawJson(`{"holon":${written.body},"changes":${JSON.stringify(changes)}}`),
        entityTag(written.tag),
      );
    });
}

/**
 * Locks a holon for an update, and the tree if the holon can move. @throws AppError 404 if the holon does not exist or
 * is invisible, 403 without the required rights
 */
async function lockForEditing(
  tx: Tx,
  { holon_id: id, journey_ids: journeys, parent_id: parentId }: Request,
  actor: Actor | undefined,
): Promise<LockedHolon> {
  const viewer = readViewer(actor);
  // Concurrent moves could create a cycle that each of them does not see.
  if (parentId !== undefined) await lockWorkspace(tx);
  const holon = isPossibleId(id) ? await lockHolon(tx, { id, ...viewer }) : undefined;
  if (holon === undefined) throw notFound();
  if (!holon.can_edit) throw new AppError({ code: 'permission_denied', message: 'You cannot edit this holon.' });
  if (journeys !== undefined && !viewer.seesAll) {
    throw new AppError({ code: 'permission_denied', message: 'Setting journey_ids requires global edit access.' });
  }
  return holon;
}

interface NewPosition {
  readonly moves: boolean;
  readonly parentId: number | null;
}

/**
 * Returns where the request moves the holon. The parent as the caller sees it is not a move, so that what was read can
 * be written back.
 * @throws AppError 400 for a parent that does not exist, does not allow the class or is the holon or below it; 403
 */
async function findNewPosition(
  tx: Tx,
  { holon_id: id, parent_id: parentId }: Request,
  holon: LockedHolon,
  actor: Actor | undefined,
): Promise<NewPosition> {
  if (parentId === undefined || parentId === holon.seen_parent_id) return { moves: false, parentId: null };
  await checkMove(tx, { parentId, classId: holon.class_id }, readViewer(actor));
  if (parentId !== null && (await findAncestor(tx, { id: parentId, ancestorId: id })) !== undefined)
    throw badRequest('parent_id: a holon cannot be below itself.');
  return { moves: true, parentId };
}

/** Saves a holon. @throws AppError 400 for an invalid slug, 409 `slug_taken` */
async function save(
  tx: Tx,
  values: Omit<Parameters<typeof saveHolon>[1], 'slug'> & { readonly slug: string | undefined },
): Promise<SavedHolon | undefined> {
  const { slug } = values;
  if (slug !== undefined) checkSlug(slug);
  try {
    return await saveHolon(tx, values);
  } catch (error) {
    throw slug !== undefined && constraintOf(error) === 'holons__slug__unique' ? slugTaken(slug) : error;
  }
}

function readState(row: SavedHolon, parentId: number | null, journeyIds: readonly number[]): HolonState {
  const [links, infos] = [row.links, row.infos].map((text) => {
    const value = parseJson(text);
    return isJsonObject(value) ? value : {};
  }) as [JsonObject, JsonObject];
  const { name, slug, description } = row;
  return { name, slug, parent_id: parentId, description, links, infos, journey_ids: journeyIds };
}
