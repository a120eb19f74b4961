/** Maintenance by operators: missing bookings, imports of transcripts, retention of the feed. */
import { route, Type } from '#libs/infrastructure/contract';
import { conversations } from '#services/conversations';
import { events } from '#services/events';

const { reconcileBookings, importTranscript } = conversations.rpcs;
const { pruneFeed } = events.rpcs;

const acting = { tag: 'operations', auth: 'ops-act', scope: 'ops:write' } as const;

export const maintenanceRoutes = [
  route({
    method: 'POST',
    path: '/api/ops/bookings/reconcile',
    operationId: 'reconcileBookings',
    summary: 'Import missing Cal.com bookings',
    description:
      'Starts a job that compares the bookings of Cal.com with the known ones and processes missing ones like webhooks. Its result has the counts.',
    ...acting,
    rpc: reconcileBookings,
    body: { schema: reconcileBookings.request },
    replies: { 200: { description: 'The job that was started.', schema: reconcileBookings.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/ops/conversations/{conversation_id}/import-transcript',
    operationId: 'importTranscript',
    summary: 'Import the transcript of a conversation',
    description: 'Starts the transcript import, whatever step the conversation is in.',
    ...acting,
    rpc: importTranscript,
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    body: { schema: Type.Object({}), optional: true },
    replies: { 200: { description: 'The job that was started.', schema: importTranscript.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/ops/events/prune',
    operationId: 'pruneEvents',
    summary: 'Remove old events of the feed',
    description: 'Earlier cursors then return 410.',
    ...acting,
    deadlineMs: 60_000,
    rpc: pruneFeed,
    body: { schema: pruneFeed.request },
    replies: { 200: { description: 'The number of removed events.', schema: pruneFeed.reply } },
  }),
];
