/** Deletes a holon that nothing depends on (rules/holons#create-and-delete; W2, W14). */
import { isPossibleId } from '#libs/infrastructure/contract';
import { AppError, appError, notFound } from '#libs/infrastructure/errors';
import { type Handler, withoutActor } from '#libs/infrastructure/nats';
import { lockObject } from '#libs/infrastructure/references';
import { conversations } from '#services/conversations';
import { media } from '#services/media';
import type { Dependencies } from '../../dependencies.ts';
import { holonEvents, journeyEvents } from '../../events/contract.ts';
import { emitDeleted } from '../../events/index.ts';
import { checkIfMatch } from '../../lists/index.ts';
import { readViewer } from '../../visibility/index.ts';
import type { holonRpcs } from '../contract.ts';
import { getTag, lockHolon } from '../statements/holon.ts';
import { countUses, deleteHolon, deleteNotes, listTeamAccounts } from '../statements/deletion.ts';
import { mayCreateAt } from './positions.ts';

export function createDeleteHolon({
  bus,
  jobs,
  eventOutbox,
  history,
}: Pick<Dependencies, 'bus' | 'jobs' | 'eventOutbox' | 'history'>): Handler<typeof holonRpcs.deleteHolon> {
  return async ({ holon_id: id, if_match: ifMatch }, context) => {
    if (!isPossibleId(id)) throw notFound();
    const viewer = readViewer(context.actor);
    await jobs.transaction(async (tx) => {
      const holon = await lockHolon(tx, { id, ...viewer });
      if (holon === undefined) throw notFound();
      if (!(await mayCreateAt(tx, { parentId: holon.parent_id, classId: holon.class_id }, viewer)))
        throw new AppError({ code: 'permission_denied', message: 'You cannot delete this holon.' });
      await checkIfMatch(ifMatch, () => getTag(tx, { id }));
      await lockObject(tx, { key: `holon/${id}` });
      const { count } = await bus.call(conversations.rpcs.countUses, { holon_id: id }, withoutActor(context));
      const counts = { ...(await countUses(tx, { id })), conversations: count };
      if (Object.values(counts).some((uses) => uses > 0))
        throw appError('conflict', 'in_use', 'Other objects depend on the holon.', { counts });
      await history.recordChanges(tx, context, 'holons', [id]);
      const accounts = await listTeamAccounts(tx, { id });
      await history.recordChanges(
        tx,
        context,
        'accounts',
        accounts.map(({ account_id: accountId }) => accountId),
      );
      await emitDeleted(eventOutbox, tx, 'holon', [id]);
      await deleteNotes(tx, { id });
      await deleteHolon(tx, { id });
      await jobs.enqueue(tx, media.jobs.retireLogo, { holon_id: id }, { requestId: context.requestId });
      await jobs.emit(tx, holonEvents.holonsChanged, { ids: [id] });
      if (holon.journey_ids.length > 0)
        await jobs.emit(tx, journeyEvents.journeysChanged, { ids: [...holon.journey_ids] });
    });
    return {};
  };
}
