/** Reads and writes the room state (rules/room#room-state; D23). */
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import type { RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { windowCompleted } from '../pipeline/index.ts';
import type { RoomWrite } from './contract.ts';
import { type IncomingWindow, mergeRoom, parseRoom, readRoomWindow, roomState, roomWriteReply } from './rules.ts';
import { findRoom, lockRoom, replaceRoom } from './statements.ts';
import { addOpenedRoom } from '../timeline/index.ts';

export function createRoomHandlers(dependencies: Dependencies): Pick<Operations, 'readRoom' | 'writeRoom'> {
  return {
    readRoom: (request) => readRoom(dependencies, request),
    writeRoom: (request, context) => writeRoom(dependencies, request, context),
  };
}

/** Handles GET enter-coherence. @throws AppError 404 */
async function readRoom(
  { db }: Dependencies,
  request: RequestOf<typeof conversations.rpcs.readRoom>,
): Promise<ReplyOf<typeof conversations.rpcs.readRoom>> {
  const row = await findRoom(db, { id: requireId(request.conversation_id) });
  if (row === undefined) throw notFound();
  return roomState(parseRoom(row.room));
}

/**
 * Handles POST enter-coherence, usually with an optimistic read and write. It locks the row after a concurrent write,
 * or when the window becomes complete. On an error nothing is stored.
 * @throws AppError 404, then errors of `mergeRoom`
 */
async function writeRoom(
  dependencies: Dependencies,
  request: RequestOf<typeof conversations.rpcs.writeRoom>,
  context: RequestContext,
): Promise<ReplyOf<typeof conversations.rpcs.writeRoom>> {
  const { db, jobs, eventOutbox } = dependencies;
  const id = requireId(request.conversation_id);
  const row = await findRoom(db, { id });
  if (row === undefined) throw notFound();
  const incoming = readRoomWindow(request.write);
  const merged = mergeRoom(parseRoom(row.room), request.write, incoming);
  if (!merged.changed) return roomWriteReply(id, merged.room, incoming);
  if (!merged.windowCompleted) {
    const written = await replaceRoom(db, { id, room: JSON.stringify(merged.room), updatedAt: row.updated_at });
    if (written !== undefined) {
      if (row.room === null) await addOpenedRoom(db, { conversationId: id });
      eventOutbox.wake();
      return roomWriteReply(id, merged.room, incoming);
    }
  }
  const reply = await jobs.transaction((tx) => writeLocked(dependencies, tx, id, request.write, incoming, context));
  eventOutbox.wake();
  return reply;
}

async function writeLocked(
  { jobs, pipeline }: Dependencies,
  tx: Tx,
  id: number,
  write: RoomWrite,
  incoming: IncomingWindow,
  context: RequestContext,
): Promise<ReplyOf<typeof conversations.rpcs.writeRoom>> {
  const row = await lockRoom(tx, { id });
  if (row === undefined) throw notFound();
  const merged = mergeRoom(parseRoom(row.room), write, incoming);
  if (merged.changed) await replaceRoom(tx, { id, room: JSON.stringify(merged.room), updatedAt: row.updated_at });
  if (merged.changed && row.room === null) await addOpenedRoom(tx, { conversationId: id });
  if (merged.windowCompleted) await windowCompleted({ jobs, pipeline }, tx, id, context);
  return roomWriteReply(id, merged.room, incoming);
}
