/** Contract of creating, changing, deleting and restoring conversations over HTTP (rules/conversations#set-up; W8). */
import { byClients, byUsers, type ErrorReasons, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { ConversationOut } from '../conversation/contract.ts';
import { AnyId, dataErrors, Id, JsonStore } from '../schemas.ts';

const maxPeople = 1_000;
const maxConnected = 200;

const Time = (description: string) => Type.Optional(nullable(Type.String({ format: 'date-time-offset', description })));
const Slug = (description: string) => Type.String({ maxLength: 500, description });

const editable = {
  start: Time('Start, with an offset; null = no start.'),
  finish: Time('End, with an offset, after `start`; null = open-ended.'),
  participant_ids: Type.Optional(
    Type.Array(AnyId, { maxItems: maxPeople, description: 'All participants, in their order.' }),
  ),
  connected_slugs: Type.Optional(
    Type.Array(Slug('Slug of a holon.'), { maxItems: maxConnected, description: 'All linked holons, in their order.' }),
  ),
  event_slug: Type.Optional(nullable(Slug('Event that owns the conversation; null = no event.'))),
};

/** Body of POST /conversations. */
export const NewConversation = Type.Object(
  {
    journey_slug: Slug('Slug of a conversation journey.'),
    ...editable,
    event_slug: Type.Optional(
      nullable(Slug("Event that owns the conversation; null = no event. Default: the journey's only event.")),
    ),
    step_slug: Type.Optional(Slug('Step to enter; default: the first active step.')),
    infos: Type.Optional(JsonStore('Public and display metadata.')),
    config: Type.Optional(JsonStore('Operational metadata.')),
  },
  { $id: 'ConversationCreate', description: 'A conversation to create.' },
);

/** Body of POST /conversations/{id}/update. Absent fields are not changed; lists are replaced whole. */
export const ConversationUpdate = Type.Object(
  {
    ...editable,
    step_slug: Type.Optional(Slug("Step of the conversation's journey to enter, with its job and event.")),
  },
  { $id: 'ConversationUpdate', description: 'Fields to change.' },
);

const invalid: ErrorReasons = {
  validation_error: { code: 'bad_request', when: 'A slug or id does not exist or is not visible to the caller.' },
  invalid_times: { code: 'bad_request', when: '`finish` is not after `start`.' },
};
export const deniedErrors: ErrorReasons = {
  coherence_access_required: {
    code: 'permission_denied',
    when: 'The caller has neither coherence access nor team authority over the event.',
  },
};
const changed: ErrorReasons = {
  precondition_failed: {
    code: 'precondition_failed',
    when: 'If-Match names another representation; carries `updated_at`.',
  },
};
const IfMatch = Type.Optional(nullable(Type.String({ description: 'The header If-Match.' })));

export const editingRpcs = {
  createConversation: rpc({
    subject: 'conversations.editing.create',
    callers: byClients,
    idempotent: true,
    summary: 'Creates a conversation of a journey, at its first step unless another one is named (W8).',
    request: NewConversation,
    reply: ConversationOut,
    errors: {
      ...invalid,
      ...deniedErrors,
      ...dataErrors,
      invalid_namespace_placement: {
        code: 'bad_request',
        when: 'A key of `infos` or `config` belongs to another writer or the other field.',
      },
    },
  }),
  updateConversation: rpc({
    subject: 'conversations.editing.update',
    callers: byUsers,
    idempotent: true,
    audit: 'conversation.update',
    summary: 'Changes times, people, links, event or step of a conversation (W8).',
    request: Type.Object({ conversation_id: AnyId, ...ConversationUpdate.properties, if_match: IfMatch }),
    reply: ConversationOut,
    errors: { ...invalid, ...deniedErrors, ...changed },
  }),
  deleteConversation: rpc({
    subject: 'conversations.editing.delete',
    callers: byUsers,
    audit: 'conversation.delete',
    summary: 'Deletes a conversation, which can be restored until it is removed permanently (W8, D67).',
    request: Type.Object({ conversation_id: AnyId, if_match: IfMatch }),
    reply: Type.Object({ conversation_id: Id }),
    errors: { ...deniedErrors, ...changed },
  }),
  restoreConversation: rpc({
    subject: 'conversations.editing.restore',
    callers: byUsers,
    idempotent: true,
    audit: 'conversation.restore',
    summary: 'Restores a deleted conversation with its data and adds a note (W8, D67).',
    request: Type.Object({ conversation_id: AnyId }),
    reply: ConversationOut,
    errors: { ...deniedErrors, not_deleted: { code: 'conflict', when: 'The conversation is not deleted.' } },
  }),
} as const;
