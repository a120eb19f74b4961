/** Shared schemas (rules/conversations#conversationout). Descriptions are part of the API documentation. */
import { type ErrorReasons, nullable, rowId, Type } from '#libs/infrastructure/contract';

export const Id = rowId;

/** Schema of any integer in a path or query, before a check whether the id can exist. */
export const AnyId = Type.Integer({ description: 'A positive integer; ids are per instance.' });

/** Schema of an instant in UTC. */
export const Instant = (description: string) => Type.String({ format: 'date-time', description });

export const JsonDocument = (description: string) => Type.Object({}, { additionalProperties: true, description });

export const PersonOut = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    photo: nullable(Type.String({ description: 'Address of the photo.' })),
    contact: JsonDocument('Contact values by channel, possibly empty.'),
  },
  { $id: 'PersonOut', description: 'A participant.' },
);

/** Error of all writes that can exceed the size limit (D63). */
export const dataErrors: ErrorReasons = Object.freeze({
  conversation_data_too_large: {
    code: 'payload_too_large',
    when: '`infos`, `config` including the room state, or `question_state` would exceed 1 MiB of JSON text. Nothing is changed.',
  },
});

/** Schema of a JSON store in a request, whose numbers retain their digits (rules/http#numbers-and-keys). */
export const JsonStore = (description: string) => JsonDocument(description);

/** Schema of `expected_updated_at` (D9, D9a). Null counts as absent; an offset is required. */
export const ExpectedUpdatedAt = nullable(
  Type.String({
    format: 'date-time-offset',
    description: 'Reject the write with 409 unless this is the current `updated_at`. Null counts as absent.',
  }),
);

export const optionalInstant = (description: string) => Type.Optional(nullable(Instant(description)));
