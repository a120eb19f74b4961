/** Contract: the transcript file (rules/transcripts#transcript-file). */
import { byClients, ownAccount, rpc, Type } from '#libs/contract';
import { conversationId } from '../schemas.ts';

export const renderRpcs = {
  render: rpc({
    subject: 'transcripts.transcripts.render',
    callers: { ...byClients, agents: ownAccount },
    summary: 'Render the transcript of a conversation as Markdown',
    request: Type.Object({
      conversation_id: conversationId,
      person_id: Type.Optional(Type.Integer({ description: 'Only this speaker: a person id, or a negative unresolved-speaker id.' })),
    }),
    reply: Type.String({ description: 'UTF-8 Markdown, as raw bytes rather than a JSON string.' }),
    timeoutMs: 60_000,
  }),
} as const;
