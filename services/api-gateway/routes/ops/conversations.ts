/** Conversations with all their data, also deleted ones (D67), and evidence of their transcript imports. */
import { transcripts } from '#services/transcripts';
import { route, Type } from '#libs/infrastructure/contract';
import { conversations } from '#services/conversations';

const root = '/api/ops/conversations';
const { listAllConversations, listDeletedConversations, showConversation } = conversations.rpcs;
const { listEvidence } = transcripts.rpcs;
const reading = { method: 'GET', tag: 'operations', auth: 'ops', scope: 'ops:read' } as const;

export const conversationRoutes = [
  route({
    ...reading,
    path: root,
    operationId: 'listAllConversations',
    summary: 'List conversations',
    description: 'Conversations that are not deleted, newest first.',
    query: listAllConversations.request,
    rpc: listAllConversations,
    replies: { 200: { description: 'A page of conversations.', schema: listAllConversations.reply } },
  }),
  route({
    ...reading,
    path: `${root}/deleted`,
    operationId: 'listDeletedConversations',
    summary: 'List deleted conversations',
    description: 'Conversations that can be restored, latest deletion first.',
    query: listDeletedConversations.request,
    rpc: listDeletedConversations,
    replies: { 200: { description: 'A page of deleted conversations.', schema: listDeletedConversations.reply } },
  }),
  route({
    ...reading,
    path: `${root}/{id}`,
    operationId: 'getConversationDetails',
    summary: 'Read one conversation with all its data',
    description: 'Also a deleted conversation.',
    params: Type.Object({ id: Type.Integer({ description: 'Id of the conversation.' }) }),
    rpc: showConversation,
    etag: true,
    replies: { 200: { description: 'The conversation.', schema: showConversation.reply } },
  }),
  route({
    ...reading,
    path: '/api/ops/import-evidence',
    operationId: 'listImportEvidence',
    summary: 'List the import evidence of an artifact or a conversation',
    description: 'Enough to recompute the evidence from a copy of the artifact. Counts and digests only.',
    query: listEvidence.request,
    rpc: listEvidence,
    replies: { 200: { description: 'The evidence.', schema: listEvidence.reply } },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist.' } },
  }),
];
