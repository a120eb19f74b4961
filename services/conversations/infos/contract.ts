/** Contract: the `infos` of a conversation by themselves. */
import { byUsers, rpc, Type } from '#libs/contract';
import { AnyId, dataErrors, JsonDocument, JsonStore } from '../schemas.ts';

export const Infos = Type.Object(
  { infos: JsonDocument('Public and display metadata; `{}` when nothing is stored.') },
  { $id: 'ConversationInfos' },
);

export const infosRpcs = {
  readInfos: rpc({
    subject: 'conversations.infos.get',
    callers: byUsers,
    summary: 'The `infos` of a conversation.',
    request: Type.Object({ conversation_id: AnyId }),
    reply: Infos,
  }),
  patchInfos: rpc({
    subject: 'conversations.infos.patch',
    callers: byUsers,
    summary: 'Shallow merge of `infos` alone, without guards (D9a).',
    request: Type.Object({ conversation_id: AnyId, infos: JsonStore('Top-level keys replace whole values.') }),
    reply: Infos,
    errors: {
      invalid_namespace_placement: { code: 'bad_request', when: 'A key of `infos` belongs to another writer.' },
      ...dataErrors,
    },
  }),
} as const;
