/** Question changes (rules/questions#record-a-change; D14 to D16a). */
import { route, Type } from '#libs/contract';
import { conversations, QuestionChange, QuestionChangeReply } from '#services/conversations';

export const questionRoutes = [
  route({
    method: 'POST',
    path: '/api/coherence/conversations/{conversation_id}/question-changes',
    operationId: 'recordQuestionChange',
    tag: 'conversations',
    summary: 'Record that a question was displayed',
    description:
      'Changes may arrive in any order; each is stored at its own `occurredAt`. Order, active question and durations are derived and returned as ' +
      '`question_state` of the conversation. The same key with the same content returns 200 with `replayed: true`. A rejected call does not use up its key.',
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    headers: Type.Object({
      'Idempotency-Key': Type.String({
        minLength: 1,
        maxLength: 255,
        pattern: '\\S',
        description: 'Scoped to the question changes of the conversation.',
      }),
    }),
    body: { schema: QuestionChange },
    rpc: conversations.rpcs.recordQuestionChange,
    toRequest: ({ params: { conversation_id }, headers, body }) => ({
      conversation_id,
      idempotency_key: headers['Idempotency-Key'],
      change: body,
    }),
    outcomes: { created: 201 },
    replies: {
      200: { description: 'The same change was recorded before under this key.', schema: QuestionChangeReply },
      201: { description: 'Recorded.', schema: QuestionChangeReply },
    },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
];
