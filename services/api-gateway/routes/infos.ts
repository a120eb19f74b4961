/** `infos` alone (rules/conversations#infos; D9a, D9b). */
import { route, Type } from '#libs/contract';
import { conversations, Infos, JsonStore } from '#services/conversations';

const path = '/api/coherence/conversations/{conversation_id}/infos';
const params = Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) });
const errors = { not_found: { code: 'not_found', when: 'The conversation does not exist.' } } as const;

export const infosRoutes = [
  route({
    method: 'GET',
    path,
    operationId: 'getConversationInfos',
    tag: 'conversations',
    summary: 'Read infos',
    auth: 'user',
    scope: 'conversations:read',
    params,
    rpc: conversations.rpcs.readInfos,
    etag: true,
    replies: { 200: { description: 'The stored `infos`.', schema: Infos } },
    errors,
  }),
  route({
    method: 'PATCH',
    path,
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
    errors,
  }),
];
