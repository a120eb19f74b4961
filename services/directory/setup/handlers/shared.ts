/** What the operations of set-up share: rights, replies, deletion (W5, W12, W14). */
import { listSome, recordAudit } from '#libs/infrastructure/audit';
import { mayEditWorkspace, type Actor } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { entityTag } from '#libs/infrastructure/etag';
import type { FieldChanges } from '#libs/product/history';
import { parseJson } from '#libs/infrastructure/json';
import {
  rawJson,
  type RawJson,
  type RequestContext,
  type TaggedReply,
  withEtag,
  withoutActor,
} from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { lockObject } from '#libs/infrastructure/references';
import { conversations } from '#services/conversations';
import type { Dependencies } from '../../dependencies.ts';
import { lockWorkspace } from '../../person-rows/index.ts';
import { refuseInUse, requireEditor } from '../rules.ts';
import type { classRows } from '../statements.ts';

export type SetupDependencies = Pick<
  Dependencies,
  'db' | 'bus' | 'jobs' | 'idempotency' | 'eventOutbox' | 'history' | 'pipeline'
>;

/**
 * Finds an object to write, with other writers of set-up locked out. @throws AppError 404 when it does not exist or
 * the caller cannot see it, 403 when the caller cannot write it
 */
export async function findForWriting<Found extends { readonly id: number; readonly visible?: boolean }>(
  tx: Tx,
  actor: Actor | undefined,
  find: () => Promise<Found | undefined>,
): Promise<Found> {
  if (mayEditWorkspace(actor)) await lockWorkspace(tx);
  const found = await find();
  if (found === undefined || (found.visible === false && !mayEditWorkspace(actor))) throw notFound();
  requireEditor(actor);
  return found;
}

/** Returns `{<kind>: object, changes?}` with the entity tag of the object. */
export function replyWith(kind: string, body: string, changes?: FieldChanges): TaggedReply<RawJson> {
  const rest = changes === undefined ? '' : `,"changes":${JSON.stringify(changes)}`;
  return withEtag(rawJson(`{"${kind}":${body}${rest}}`), entityTag(body));
}

/** Records an update that changed something. */
export function auditChanges(tx: Tx, context: RequestContext, type: string, id: number, changes: FieldChanges): void {
  const fields = Object.keys(changes);
  if (fields.length > 0) recordAudit(tx, context, { target: { type, id }, changes: listSome(fields, 'fields') });
}

/** Counts conversations of a journey or step. No conversation of the journey is created until the transaction ends. */
export async function countConversations(
  tx: Tx,
  { bus }: SetupDependencies,
  context: RequestContext,
  { journeyId, ...of }: { readonly journeyId: number; readonly journey_id?: number; readonly step_id?: number },
): Promise<number> {
  await lockObject(tx, { key: `journey/${journeyId}` });
  return (await bus.call(conversations.rpcs.countUses, of, withoutActor(context))).count;
}

/** Deletes a locked row on which nothing depends. @throws AppError 409 `in_use` */
export async function deleteUnused(
  tx: Tx,
  rows: Pick<typeof classRows, 'countUses' | 'delete'>,
  id: number,
  others: Readonly<Record<string, number>> = {},
): Promise<void> {
  const { body } = await rows.countUses(tx, { id });
  refuseInUse({ ...(parseJson(body) as Record<string, number>), ...others });
  await rows.delete(tx, { id });
}
