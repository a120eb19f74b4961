/** Contract of conversations for operators (rules/operations-api). */
import { byUsers, limitParameter, notAnOperator, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { DeletedConversation } from '../deletion/contract.ts';
import { AnyId } from '../schemas.ts';

const OptionalInstant = nullable(Type.String({ format: 'date-time' }));
const Name = Type.Object({ id: Type.Integer(), name: Type.String() });
const facts = {
  id: Type.Integer(),
  title: Type.String(),
  journey: nullable(Type.String({ description: 'Slug.' })),
  step: nullable(Type.String({ description: 'Slug.' })),
  event: nullable(Type.String({ description: 'Slug of the conversation event.' })),
  start: OptionalInstant,
  finish: OptionalInstant,
  participants: Type.Array(Name, { description: 'Existing people, in order.' }),
  updated_at: Type.String({ format: 'date-time' }),
};

const noJourney = { journey_not_found: { code: 'not_found', when: 'No journey has that slug.' } } as const;
const noEvent = { holon_not_found: { code: 'not_found', when: 'No holon has that slug.' } } as const;

export const listedConversation = Type.Object(facts, { $id: 'ListedConversation' });

export const conversationDetails = Type.Object(
  {
    ...facts,
    connected: Type.Array(Type.Object({ id: Type.Integer(), slug: Type.String(), name: Type.String() })),
    infos: Type.Unknown({ description: 'Public and display metadata.' }),
    config: Type.Unknown({ description: 'Operational metadata.' }),
    room: Type.Unknown({ description: 'State of the room, or null.' }),
    audio_blob_id: nullable(Type.Integer({ description: 'Stored audio.' })),
    booking: nullable(Type.Object({ id: Type.Integer(), cancelled: Type.Boolean() })),
    import_key: nullable(Type.String({ description: 'Key of the workspace file.' })),
    notes: Type.Integer({ description: 'Number of notes.' }),
    created_at: Type.String({ format: 'date-time' }),
    deleted: nullable(Type.Omit(DeletedConversation, ['id', 'title'])),
  },
  { $id: 'ConversationDetails', description: 'A conversation with all its data.' },
);

export const conversationFilter = {
  journey_slug: Type.Optional(Type.String({ maxLength: 500, description: 'Of this journey.' })),
  event_slug: Type.Optional(Type.String({ maxLength: 500, description: 'Of this conversation event.' })),
  person_id: Type.Optional(AnyId),
  since: Type.Optional(Type.String({ format: 'date-time-offset', description: 'That start at this time or later.' })),
  until: Type.Optional(Type.String({ format: 'date-time-offset', description: 'That start before this time.' })),
};

/** Default page size. */
export const conversationsPerPage = 50;

const page = {
  limit: limitParameter({ usual: conversationsPerPage, most: 200 }),
  cursor: Type.Optional(Type.String({ description: '`next` of the previous page.' })),
};
const badCursor = { bad_cursor: { code: 'bad_request', when: 'The cursor is not valid for this list.' } } as const;
const next = nullable(Type.String({ description: '`cursor` of the next page; null at the end.' }));

export const operatorRpcs = {
  listAllConversations: rpc({
    subject: 'conversations.operations.list',
    callers: byUsers,
    summary: 'Lists conversations that are not deleted, newest first, for operators.',
    request: Type.Object({ ...conversationFilter, ...page }),
    reply: Type.Object({ items: Type.Array(listedConversation), next }),
    errors: { ...badCursor, ...noJourney, ...noEvent },
  }),
  showConversation: rpc({
    subject: 'conversations.operations.show',
    callers: byUsers,
    summary: 'Returns a conversation with all its data for operators, also a deleted one.',
    request: Type.Object({ id: AnyId }),
    reply: conversationDetails,
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
  listDeletedConversations: rpc({
    subject: 'conversations.operations.list-deleted',
    callers: byUsers,
    summary: 'Lists deleted conversations that can be restored, latest deletion first, for operators.',
    request: Type.Object(page),
    reply: Type.Object({ items: Type.Array(DeletedConversation), next }),
    errors: badCursor,
  }),
  importTranscript: rpc({
    subject: 'conversations.operations.import-transcript',
    callers: byUsers,
    audit: 'conversation.import-transcript',
    summary: 'Starts the transcript importer for a conversation (D7a).',
    request: Type.Object({ conversation_id: Type.Integer() }),
    reply: Type.Object({ conversation_id: Type.Integer(), job_id: Type.String() }),
    errors: {
      not_found: { code: 'not_found', when: 'The conversation does not exist.' },
      ...notAnOperator,
    },
  }),
} as const;
