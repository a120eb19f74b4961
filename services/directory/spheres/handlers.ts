/** Lists and writes spheres (W15). Writes are for callers who can edit the set-up (W5). */
import { recordAudit } from '#libs/infrastructure/audit';
import { type Actor, isPossibleId, mayEditWorkspace, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, badRequest, notFound, unavailable } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import { type Handler, type HandlersOf, rawJson, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { isBlank } from '#libs/infrastructure/text';
import type { Dependencies } from '../dependencies.ts';
import { slugOf } from '../holons/index.ts';
import { bodyOf, checkIfMatch } from '../lists/index.ts';
import { type sphereRpcs, spheresPerPage } from './contract.ts';
import { findFreeKey, getSphere, insertSphere, listSpheres, lockSphere, saveSphere } from './statements.ts';

/** Each attempt fails only if a concurrent creation took the key that was free before. */
const maxKeyAttempts = 100;

type SphereDependencies = Pick<Dependencies, 'db' | 'idempotency' | 'history'>;

export function createSphereHandlers(deps: SphereDependencies): HandlersOf<typeof sphereRpcs> {
  return {
    listSpheres: async ({ include_inactive: includeInactive = false, limit = spheresPerPage, cursor }, { actor }) => {
      if (includeInactive) requireEditor(actor);
      return bodyOf(await listSpheres(deps.db, { includeInactive, after: readCursor(cursor), limit }));
    },
    createSphere: createCreateSphere(deps),
    updateSphere: createUpdateSphere(deps),
  };
}

function createCreateSphere({ idempotency, history }: SphereDependencies): Handler<typeof sphereRpcs.createSphere> {
  return (request, context) => {
    requireEditor(context.actor);
    const create = async (tx: Tx) => {
      const id = await insertWithFreeKey(tx, readName(request.name));
      history.created(tx, context, 'spheres', [id]);
      recordAudit(tx, context, { target: { type: 'sphere', id } });
      const { body } = await getSphere(tx, { id });
      return withEtag(rawJson(`{"sphere":${body}}`), entityTag(body));
    };
    return idempotency.run(context, request, create, { isAuthorized: true });
  };
}

function createUpdateSphere({ idempotency, history }: SphereDependencies): Handler<typeof sphereRpcs.updateSphere> {
  return (request, context) => {
    const { sphere_id: id, name, is_active: isActive } = request;
    return idempotency.run(context, request, async (tx) => {
      const stored = isPossibleId(id) ? await lockSphere(tx, { id }) : undefined;
      // Inactive spheres do not exist for callers that cannot edit the set-up.
      if (stored === undefined || (!stored.isActive && !mayEditWorkspace(context.actor))) throw notFound();
      requireEditor(context.actor);
      await checkIfMatch(request.if_match, () => getSphere(tx, { id }));
      const tracked = await history.recordChanges(tx, context, 'spheres', [id]);
      await saveSphere(tx, { id, name: name === undefined ? undefined : readName(name), isActive });
      const changes = await tracked.changesOf(id);
      const fields = Object.keys(changes);
      if (fields.length > 0) recordAudit(tx, context, { target: { type: 'sphere', id }, changes: { fields } });
      const { body } = await getSphere(tx, { id });
      return withEtag(rawJson(`{"sphere":${body},"changes":${JSON.stringify(changes)}}`), entityTag(body));
    });
  };
}

/** @throws AppError 403 */
function requireEditor(actor: Actor | undefined): void {
  if (!mayEditWorkspace(actor))
    throw new AppError({ code: 'permission_denied', message: 'You cannot edit the set-up.' });
}

function readName(given: RequestOf<typeof sphereRpcs.createSphere>['name']): string {
  const name = given.trim();
  if (isBlank(name)) throw badRequest('name must not be blank.');
  return name;
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const after = /^[1-9]\d{0,9}$/.test(cursor) ? Number(cursor) : 0;
  if (!isPossibleId(after)) throw badRequest('cursor must be the `next` of an earlier page.');
  return after;
}

async function insertWithFreeKey(tx: Tx, name: string): Promise<number> {
  const base = slugOf(name);
  for (let attempt = 0; attempt < maxKeyAttempts; attempt++) {
    const free = await findFreeKey(tx, { base });
    const row = await insertSphere(tx, { ...free, name });
    if (row !== undefined) return row.id;
  }
  throw unavailable('Too many spheres with this name are being created; retry.');
}
