/** Contract of conversations for operators (admin CLI). */
import { byOperators, byUsers, nullable, rpc, Type } from '#libs/contract';
import { DeletedConversation } from '../deletion/contract.ts';
import { Id, notAnOperator } from '../schemas.ts';

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

export const operatorRpcs = {
  adminList: rpc({
    subject: 'admin.conversations.conversations.list',
    callers: byOperators,
    summary: 'Conversations that are not deleted, newest first, in pages.',
    request: Type.Object({
      journey_slug: Type.Optional(Type.String()),
      event_slug: Type.Optional(Type.String()),
      person_id: Type.Optional(Id),
      since: Type.Optional(Type.String({ format: 'date-time', description: 'Only those that start then or later.' })),
      until: Type.Optional(Type.String({ format: 'date-time', description: 'Only those that start earlier.' })),
      before: Type.Optional(Id),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
    }),
    reply: Type.Object({
      items: Type.Array(Type.Object(facts)),
      next: nullable(Type.Integer({ description: '`before` of the next page.' })),
    }),
    errors: { ...noJourney, ...noEvent },
  }),
  adminShow: rpc({
    subject: 'admin.conversations.conversations.show',
    callers: byOperators,
    summary: 'One conversation with all its data, including deleted ones. 404 when absent.',
    request: Type.Object({ conversation_id: Type.Integer() }),
    reply: Type.Object({
      ...facts,
      connected: Type.Array(Type.Object({ id: Type.Integer(), slug: Type.String(), name: Type.String() })),
      infos: Type.Unknown(),
      config: Type.Unknown(),
      room: Type.Unknown({ description: 'State of the room, or null.' }),
      audio_blob_id: nullable(Type.Integer()),
      booking: nullable(Type.Object({ id: Type.Integer(), cancelled: Type.Boolean() })),
      import_key: nullable(Type.String({ description: 'Key of the workspace file.' })),
      notes: Type.Integer({ description: 'Number of notes; see `notes list --conversation`.' }),
      created_at: Type.String({ format: 'date-time' }),
      deleted: nullable(Type.Omit(DeletedConversation, ['id', 'title'])),
    }),
  }),
  adminMove: rpc({
    subject: 'admin.conversations.conversations.move',
    callers: byOperators,
    audit: 'conversation.move',
    summary: 'Moves a conversation to a step of its journey and adds a note with the operator (D6).',
    request: Type.Object({
      conversation_id: Type.Integer(),
      step_slug: Type.String(),
      operator: Type.String({ minLength: 1 }),
    }),
    reply: Type.Object({
      conversation_id: Type.Integer(),
      from: Type.String(),
      to: Type.String(),
      changed: Type.Boolean(),
    }),
    errors: { step_not_found: { code: 'not_found', when: "The conversation's journey has no such step." } },
  }),
  adminConnect: rpc({
    subject: 'admin.conversations.conversations.connect',
    callers: byOperators,
    audit: 'conversation.connect',
    summary: 'Links a conversation to a holon (D29).',
    request: Type.Object({ conversation_id: Type.Integer(), holon_slug: Type.String() }),
    reply: Type.Object({ conversation_id: Type.Integer(), changed: Type.Boolean() }),
    errors: { holon_not_found: { code: 'not_found', when: 'No holon has that slug.' } },
  }),
  adminDisconnect: rpc({
    subject: 'admin.conversations.conversations.disconnect',
    callers: byOperators,
    audit: 'conversation.disconnect',
    summary: 'Removes the link between a conversation and a holon (D29).',
    request: Type.Object({ conversation_id: Type.Integer(), holon_slug: Type.String() }),
    reply: Type.Object({ conversation_id: Type.Integer(), changed: Type.Boolean() }),
    errors: { holon_not_found: { code: 'not_found', when: 'No holon has that slug.' } },
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
