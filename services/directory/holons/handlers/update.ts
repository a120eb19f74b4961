/** Editing of a holon: one transaction under the holon's row lock, all fields or none (rules/holons#update-a-holon; D46a). */
import { type Actor, isPossibleId, type RequestOf } from '#libs/contract';
import { AppError, badRequest, notFound } from '#libs/errors';
import { entityTag } from '#libs/etag';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import { isJsonObject, parseJson, type JsonObject } from '#libs/json';
import type { Jobs } from '#libs/jobs';
import { rawJson, type Handler, withEtag } from '#libs/nats';
import type { Tx } from '#libs/orm';
import { attach } from '../../attachments.ts';
import { directory } from '../../contract.ts';
import { tellWritten } from '../../feed/index.ts';
import { checkIfMatch } from '../../if-match.ts';
import { checkInfoFields, readInfoFields } from '../../info-fields.ts';
import { readViewer } from '../../viewer.ts';
import { checkHolonFields, describeChanges, mergeInfos, type HolonState } from '../rules/holon-update.ts';
import {
  findActiveSpheres,
  findJourneyIds,
  getWrittenHolon,
  lockHolon,
  saveHolon,
  type LockedHolon,
  type SavedHolon,
} from '../statements/update.ts';

type Request = RequestOf<typeof directory.rpcs.updateHolon>;

export function createUpdateHolon({
  jobs,
  idempotency,
  eventOutbox,
}: {
  jobs: Jobs;
  idempotency: IdempotencyStore;
  eventOutbox: EventOutbox;
}): Handler<typeof directory.rpcs.updateHolon> {
  return (request, context) =>
    idempotency.run(context, request, async (tx) => {
      const { holon_id: id } = request;
      const { actor } = context;
      const holon = await lockForEditing(tx, request, actor);
      await checkIfMatch(request.if_match, () => getWrittenHolon(tx, { id, ...readViewer(actor) }));
      const checked = checkHolonFields(request, holon.name_read_only);
      const fields = checkInfoFields(readInfoFields(parseJson(holon.info_field_groups)), (request.info_fields ?? {}) as JsonObject);
      const spheres = await checkIds(tx, findActiveSpheres, request.spheres, 'spheres: there is no active sphere');
      const journeyIds = await checkIds(tx, findJourneyIds, request.journey_ids, 'journey_ids: there is no journey');

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
      const reattached = attachments.length === 0 ? [] : await attach.holon_journeys(tx, { attachments: JSON.stringify(attachments) });
      const after = readState(saved ?? holon, journeyIds ?? holon.journey_ids);

      if (saved !== undefined || reattached.length > 0) {
        await jobs.emit(tx, directory.events.holonsChanged, { ids: [id] });
        await tellWritten(eventOutbox, tx, 'holon', 'updated', [id]);
      }
      if (reattached.length > 0) {
        const ids = [...new Set([...before.journey_ids, ...after.journey_ids])];
        await jobs.emit(tx, directory.events.journeysChanged, { ids });
      }
      const written = await getWrittenHolon(tx, { id, ...readViewer(actor) });
      const changes = describeChanges(before, after, [...Object.keys(fields.set), ...fields.remove]);
      return withEtag(rawJson(`{"holon":${written.body},"changes":${JSON.stringify(changes)}}`), entityTag(written.body));
    });
}

/** @throws AppError 404 for a holon that is absent or invisible, 403 without the right to do what the request asks for */
async function lockForEditing(tx: Tx, { holon_id: id, journey_ids: journeys }: Request, actor: Actor | undefined): Promise<LockedHolon> {
  const viewer = readViewer(actor);
  const holon = isPossibleId(id) ? await lockHolon(tx, { id, ...viewer }) : undefined;
  if (holon === undefined) throw notFound();
  if (!holon.can_edit) throw new AppError({ code: 'permission_denied', message: 'You may not edit this holon.' });
  if (journeys !== undefined && !viewer.seesAll) {
    throw new AppError({ code: 'permission_denied', message: 'Setting journey_ids needs global edit access.' });
  }
  return holon;
}

/** The ids once each, in their order. @throws AppError 400 when one of them is none */
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
