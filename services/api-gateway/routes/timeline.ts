/** Timeline of a conversation (rules/conversations#timeline; W9, W23). */
import { route, TimelineItem, Type } from '#libs/infrastructure/contract';

export const timelineRoutes = [
  route({
    method: 'GET',
    path: '/api/coherence/conversations/{conversation_id}/timeline',
    operationId: 'getConversationTimeline',
    tag: 'conversations',
    summary: 'Read the timeline of a conversation',
    description:
      'What happened to the conversation, oldest first: bookings, room and transcript window, steps, questions, files, imports, failed jobs, publishing and notes. ' +
      'Services that did not answer are listed in `missing`; their items are not in the list.',
    auth: 'user',
    scope: 'conversations:read',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    handler: 'timeline',
    etag: true,
    replies: {
      200: {
        description: 'The timeline.',
        schema: Type.Object(
          {
            items: Type.Array(TimelineItem, { description: 'Oldest first.' }),
            missing: Type.Array(Type.String(), { description: 'Services that did not answer.' }),
          },
          { $id: 'Timeline' },
        ),
      },
    },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
];
