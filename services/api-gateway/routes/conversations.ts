/**
 * Conversations, their infos, question changes, room state and search (rules/conversations, rules/questions,
 * rules/room, rules/discovery).
 */
import { route, Type } from '#libs/infrastructure/contract';
import {
  ConversationOut,
  conversations,
  ConversationUpdate,
  ExpectedUpdatedAt,
  Infos,
  JsonStore,
  NewConversation,
  NewNote,
  notesQuery,
  QuestionChange,
  QuestionChangeReply,
  RecordedWrite,
  RoomState,
  RoomWrite,
  RoomWriteReply,
  SearchItem,
  searchQuery,
} from '#services/conversations';
import { ifMatch } from './if-match.ts';

const path = '/api/coherence/conversations';
const conversationPath = `${path}/{conversation_id}`;
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const notFound = { not_found: { code: 'not_found', when: 'The conversation does not exist.' } } as const;
const namespaces =
  'Forbidden in both fields: `enter-coherence` (its own endpoint writes it), `booking`, `pipeline.*` and `idempotency` (written internally only), ' +
  '`question_changes` and `question_timings`. Forbidden in `config`: `publishing`, `publishing_status`, `publish_decisions`, `publishing_approval`.';

export const conversationRoutes = [
  route({
    method: 'GET',
    path,
    operationId: 'findActiveConversations',
    tag: 'conversations',
    summary: 'Find the active conversations of a person and journey, or create one',
    description:
      'A conversation is active when the person takes part in it, it belongs to the journey, its start is at most five minutes after `time`, and its finish is ' +
      'open or not before `time`. If none is active, an unscheduled one is created at `time` and returned. Ordered by start, then id.',
    auth: 'shared-or-user',
    scope: 'conversations:write',
    query: Type.Object({
      person_id: Type.Integer({ description: 'Participant.' }),
      journey: Type.String({ description: 'Slug of a conversation journey.' }),
      time: Type.String({ format: 'date-time', description: "The caller's time; without an offset it is UTC." }),
    }),
    rpc: conversations.rpcs.findActive,
    replies: { 200: { description: 'The active conversations, at least one.', schema: Type.Array(ConversationOut) } },
  }),
  route({
    method: 'GET',
    path: conversationPath,
    operationId: 'getConversation',
    tag: 'conversations',
    summary: 'Read one conversation',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.get,
    etag: true,
    replies: { 200: { description: 'The conversation.', schema: ConversationOut } },
    errors: notFound,
  }),
  route({
    method: 'PATCH',
    path: conversationPath,
    operationId: 'patchConversation',
    tag: 'conversations',
    summary: 'Merge infos and config',
    description: `Supplied top-level keys replace whole values; omitted keys do not change. ${namespaces}`,
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params,
    headers: ifMatch('conversation'),
    body: {
      schema: Type.Object({
        infos: Type.Optional(JsonStore('Public and display metadata.')),
        config: Type.Optional(JsonStore('Operational metadata.')),
        expected_updated_at: Type.Optional(ExpectedUpdatedAt),
      }),
    },
    rpc: conversations.rpcs.patch,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    replies: { 200: { description: 'The updated conversation.', schema: ConversationOut } },
    errors: notFound,
  }),
  route({
    method: 'POST',
    path: `${conversationPath}/recorded`,
    operationId: 'markRecorded',
    tag: 'conversations',
    summary: 'Mark as recorded: advance the step, note it, merge the body',
    description:
      'With an Idempotency-Key the effects happen once in 24 hours; a repeated call returns the current conversation and only checks the boundary. ' +
      `Without a key, every call advances the step. ${namespaces}`,
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params,
    headers: Type.Object({
      'Idempotency-Key': Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          pattern: '\\S',
          description: 'Scoped to the conversation, stored for 24 hours.',
        }),
      ),
    }),
    body: { schema: RecordedWrite, optional: true },
    deprecatedFields: ['capture_ended_at'],
    rpc: conversations.rpcs.recorded,
    toRequest: ({ params: { conversation_id }, headers, body }) => ({
      conversation_id,
      idempotency_key: headers['Idempotency-Key'] ?? null,
      write: body,
    }),
    replies: { 200: { description: 'The conversation.', schema: ConversationOut } },
    errors: notFound,
  }),
];

const editing = 'Requires coherence access or team authority over the event of the conversation.';

export const editingRoutes = [
  route({
    method: 'POST',
    path,
    operationId: 'createConversation',
    tag: 'conversations',
    summary: 'Create a conversation',
    description:
      "Per-user tokens need coherence access or team authority over the event. Without `event_slug`, the journey's only event owns it, if there is exactly one; " +
      `without \`step_slug\` it enters the first active step. ${namespaces}`,
    auth: 'shared-or-user',
    scope: 'conversations:write',
    body: { schema: NewConversation },
    rpc: conversations.rpcs.createConversation,
    status: 201,
    etag: true,
    replies: { 201: { description: 'The conversation.', schema: ConversationOut } },
  }),
  route({
    method: 'POST',
    path: `${conversationPath}/update`,
    operationId: 'updateConversation',
    tag: 'conversations',
    summary: 'Change times, people, links, event or step',
    description: `${editing} Changes the fields in the request, all of them or none; lists are replaced whole. Naming another step enters it, with its job.`,
    auth: 'user',
    scope: 'conversations:write',
    params,
    headers: ifMatch('conversation'),
    body: { schema: ConversationUpdate },
    rpc: conversations.rpcs.updateConversation,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: { 200: { description: 'The updated conversation.', schema: ConversationOut } },
    errors: notFound,
  }),
  route({
    method: 'DELETE',
    path: conversationPath,
    operationId: 'deleteConversation',
    tag: 'conversations',
    summary: 'Delete a conversation',
    description: `${editing} It is hidden at once, can be restored for \`DELETED_RETENTION_DAYS\`, and is then removed with all its data.`,
    auth: 'user',
    scope: 'conversations:write',
    params,
    headers: ifMatch('conversation'),
    rpc: conversations.rpcs.deleteConversation,
    toRequest: ({ params, headers }) => ({ ...params, if_match: headers['If-Match'] }),
    status: 204,
    replies: { 204: { description: 'The conversation is deleted.' } },
    errors: notFound,
  }),
  route({
    method: 'POST',
    path: `${conversationPath}/restore`,
    operationId: 'restoreConversation',
    tag: 'conversations',
    summary: 'Restore a deleted conversation',
    description: `${editing} The conversation is visible again with all its data.`,
    auth: 'user',
    scope: 'conversations:write',
    params,
    rpc: conversations.rpcs.restoreConversation,
    etag: true,
    replies: { 200: { description: 'The conversation.', schema: ConversationOut } },
    errors: notFound,
  }),
  route({
    method: 'GET',
    path: `${conversationPath}/notes`,
    operationId: 'listConversationNotes',
    tag: 'conversations',
    summary: 'List notes of a conversation',
    description: `${editing} Newest first.`,
    auth: 'user',
    scope: 'conversations:write',
    params,
    query: Type.Object(notesQuery),
    rpc: conversations.rpcs.listConversationNotes,
    replies: { 200: { description: 'A page of notes.', schema: conversations.rpcs.listConversationNotes.reply } },
    errors: notFound,
  }),
  route({
    method: 'POST',
    path: `${conversationPath}/notes`,
    operationId: 'createConversationNote',
    tag: 'conversations',
    summary: 'Add a note to a conversation',
    description: editing,
    auth: 'user',
    scope: 'conversations:write',
    params,
    body: { schema: NewNote },
    rpc: conversations.rpcs.createConversationNote,
    status: 201,
    replies: { 201: { description: 'The note.', schema: conversations.rpcs.createConversationNote.reply } },
    errors: notFound,
  }),
];

export const infosRoutes = [
  route({
    method: 'GET',
    path: `${conversationPath}/infos`,
    operationId: 'getConversationInfos',
    tag: 'conversations',
    summary: 'Read infos',
    auth: 'user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.readInfos,
    etag: true,
    replies: { 200: { description: 'The stored `infos`.', schema: Infos } },
    errors: notFound,
  }),
  route({
    method: 'PATCH',
    path: `${conversationPath}/infos`,
    operationId: 'patchConversationInfos',
    tag: 'conversations',
    summary: 'Merge infos',
    description:
      'Supplied top-level keys replace whole values; omitted keys do not change; nothing is deleted. Never touches `config`. Forbidden: `enter-coherence` and ' +
      '`audio` (their own endpoints write them), `booking`, `pipeline.*` and `idempotency` (written internally only), `question_changes` and ' +
      '`question_timings`.',
    auth: 'user',
    scope: 'conversations:write',
    params,
    body: { schema: Type.Object({ infos: JsonStore('Public and display metadata.') }) },
    rpc: conversations.rpcs.patchInfos,
    replies: { 200: { description: 'The resulting `infos`.', schema: Infos } },
    errors: notFound,
  }),
];

export const questionRoutes = [
  route({
    method: 'POST',
    path: `${conversationPath}/question-changes`,
    operationId: 'recordQuestionChange',
    tag: 'conversations',
    summary: 'Record that a question was displayed',
    description:
      'Changes may arrive in any order; each is stored at its own `occurredAt`. Order, active question and durations are derived and returned as ' +
      '`question_state` of the conversation. The same key with the same content returns 200 with `replayed: true`. A rejected call does not use up its key.',
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params,
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
    errors: notFound,
  }),
];

export const roomRoutes = [
  route({
    method: 'POST',
    path: `${conversationPath}/enter-coherence`,
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
    errors: notFound,
  }),
  route({
    method: 'GET',
    path: `${conversationPath}/enter-coherence`,
    operationId: 'readRoom',
    tag: 'conversations',
    summary: 'Read room state and the transcript window',
    auth: 'shared-or-user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.readRoom,
    etag: true,
    replies: { 200: { description: 'The stored state; unset fields are null or empty.', schema: RoomState } },
    errors: notFound,
  }),
];

export const searchRoutes = [
  route({
    method: 'GET',
    path: `${path}/search`,
    operationId: 'searchConversations',
    tag: 'conversations',
    summary: 'Search conversations',
    description:
      'Never creates a conversation. Without filters it lists every conversation that the caller may see; filters combine with AND. Without `limit` the response is ' +
      'streamed and has no size limit. Conversations of a holon of a private class are visible to callers who can see the holon.',
    auth: 'user',
    scope: 'conversations:read',
    query: Type.Object(searchQuery),
    rpc: conversations.rpcs.search,
    counted: true,
    replies: { 200: { description: 'The conversations found, in order.', schema: Type.Array(SearchItem) } },
    errors: { not_found: { code: 'not_found', when: 'The target of a filter does not exist.' } },
  }),
  route({
    method: 'GET',
    path: `${conversationPath}/summary`,
    operationId: 'getConversationSummary',
    tag: 'conversations',
    summary: 'Read one conversation as a search item',
    auth: 'user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.summarize,
    etag: true,
    replies: { 200: { description: 'The conversation.', schema: SearchItem } },
    errors: {
      not_found: { code: 'not_found', when: 'The conversation does not exist or is not visible to the caller.' },
    },
  }),
];
