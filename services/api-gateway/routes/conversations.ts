/** Find or create, read, PATCH, recorded (rules/conversations#recorded; D1 to D3, D9 to D9b, D16a, D21, D22). */
import { route, Type } from '#libs/contract';
import { ConversationOut, conversations, ExpectedUpdatedAt, JsonStore, RecordedWrite } from '#services/conversations';

const path = '/api/coherence/conversations';
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
    path: `${path}/{conversation_id}`,
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
    path: `${path}/{conversation_id}`,
    operationId: 'patchConversation',
    tag: 'conversations',
    summary: 'Merge infos and config',
    description: `Supplied top-level keys replace whole values; omitted keys do not change. ${namespaces}`,
    auth: 'shared-or-user',
    scope: 'conversations:write',
    params,
    headers: Type.Object({
      'If-Match': Type.Optional(Type.String({ description: 'Write only if the conversation still has one of these ETags.' })),
    }),
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
    path: `${path}/{conversation_id}/recorded`,
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
        Type.String({ minLength: 1, maxLength: 255, pattern: '\\S', description: 'Scoped to the conversation, stored for 24 hours.' }),
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
