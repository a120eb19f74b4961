/** Contract: a conversation was recorded (rules/conversations#recorded). */
import { byClients, nullable, rpc, type Static, Type } from '#libs/contract';
import { ConversationOut, storeErrors } from '../conversation/contract.ts';
import { windowErrors } from '../room/contract.ts';
import { AnyId, ExpectedUpdatedAt, JsonStore, optionalInstant } from '../schemas.ts';

/** Body of POST /conversations/{id}/recorded (rules/conversations#recorded; D9, D21, D22). */
export const RecordedWrite = Type.Object(
  {
    infos: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    config: Type.Optional(JsonStore('Top-level keys replace whole values.')),
    captureEndedAt: optionalInstant('End of the transcript window; the same write-once boundary as on enter-coherence.'),
    capture_ended_at: Type.Optional(
      nullable(Type.String({ format: 'date-time', description: 'Older name of `captureEndedAt`.', deprecated: true })),
    ),
    expected_updated_at: Type.Optional(ExpectedUpdatedAt),
  },
  { $id: 'RecordedWrite', description: 'All fields are optional.' },
);

export type RecordedWrite = Static<typeof RecordedWrite>;

export const recordedRpcs = {
  recorded: rpc({
    subject: 'conversations.conversations.recorded',
    callers: byClients,
    summary: 'Advances the step, notes it and merges the body; once per idempotency key.',
    request: Type.Object({
      conversation_id: AnyId,
      idempotency_key: nullable(Type.String({ minLength: 1, maxLength: 255 })),
      write: RecordedWrite,
    }),
    reply: ConversationOut,
    errors: { ...storeErrors, ...windowErrors },
  }),
} as const;
