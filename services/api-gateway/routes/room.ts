/** Room state (rules/room#room-state; D8, D23, D26b). */
import { route, Type } from '#libs/contract';
import { conversations, RoomState, RoomWrite, RoomWriteReply } from '#services/conversations';

const path = '/api/coherence/conversations/{conversation_id}/enter-coherence';
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const errors = { not_found: { code: 'not_found', when: 'The conversation does not exist.' } } as const;

export const roomRoutes = [
  route({
    method: 'POST',
    path,
    operationId: 'writeRoom',
    tag: 'conversations',
    summary: 'Write room state and the transcript window',
    description:
      'Every field is optional and merged separately. `meetingId` and the two boundaries of the transcript window are write-once; sending the same value again ' +
      'succeeds. A rejected request writes nothing. A write never moves the journey step.',
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params,
    body: { schema: RoomWrite },
    deprecatedFields: ['sessionId'],
    rpc: conversations.rpcs.writeRoom,
    toRequest: ({ params: { conversation_id }, body }) => ({ conversation_id, write: body }),
    replies: { 200: { description: 'The stored state.', schema: RoomWriteReply } },
    errors,
  }),
  route({
    method: 'GET',
    path,
    operationId: 'readRoom',
    tag: 'conversations',
    summary: 'Read room state and the transcript window',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.readRoom,
    etag: true,
    replies: { 200: { description: 'The stored state; unset fields are null or empty.', schema: RoomState } },
    errors,
  }),
];
