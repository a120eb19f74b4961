/** Contract of recording questions that were displayed. */
import { byClients, rpc, Type } from '#libs/infrastructure/contract';
import { AnyId, dataErrors, Instant } from '../schemas.ts';

export const QuestionChange = Type.Object(
  {
    questionId: Type.Integer({ description: "A question of the conversation's journey." }),
    occurredAt: Type.String({
      format: 'date-time-offset',
      description: 'When the question was displayed, with an offset; at most five minutes ahead.',
    }),
  },
  { $id: 'QuestionChange' },
);

export const QuestionChangeReply = Type.Object(
  {
    ok: Type.Literal(true),
    conversationId: Type.Integer(),
    questionId: Type.Integer(),
    occurredAt: Instant('The recorded time in UTC.'),
    replayed: Type.Boolean({ description: 'True when the same change was already recorded with this key.' }),
  },
  { $id: 'RecordedQuestionChange' },
);

export const questionsRpcs = {
  recordQuestionChange: rpc({
    subject: 'conversations.questions.record-change',
    callers: byClients,
    summary: 'Records a displayed question once per key, in any order of arrival.',
    request: Type.Object({
      conversation_id: AnyId,
      idempotency_key: Type.String({ minLength: 1, maxLength: 255 }),
      change: QuestionChange,
    }),
    reply: QuestionChangeReply,
    errors: {
      idempotency_conflict: { code: 'conflict', when: 'The key was used for another change of this conversation.' },
      question_not_in_journey: {
        code: 'bad_request',
        when: "The question does not belong to the conversation's journey.",
      },
      occurred_at_in_future: {
        code: 'bad_request',
        when: '`occurredAt` is more than five minutes ahead; carries `detail`.',
      },
      ...dataErrors,
    },
  }),
} as const;
