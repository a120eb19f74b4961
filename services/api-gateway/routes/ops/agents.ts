/** Agents: stored chats, sentences that other threads can use (D70), webhooks at Telegram. */
import { nullable, route, Type } from '#libs/infrastructure/contract';
import { agents, sentence } from '#services/agents';
import { badCursor, page, pageOf } from './filters.ts';

const root = '/api/ops/agents';
const next = nullable(Type.String({ description: '`cursor` of the next page; null at the end.' }));
const slug = Type.String({ maxLength: 100, description: 'Slug of the agent.' });

const { items } = agents.rpcs.listAgents.reply.properties;
const { mode } = agents.rpcs.listSentences.reply.properties;
const { ids } = agents.rpcs.approveSentences.request.properties;
const { forgetThreads, getRecord, getWebhookInfo, setWebhook } = agents.rpcs;
const { slug: _slug, ...recordQuery } = getRecord.request.properties;

const agentNotFound = { not_found: { code: 'not_found', when: 'The agent does not exist.' } } as const;

const reading = { tag: 'operations', auth: 'ops', scope: 'ops:read' } as const;
const acting = { tag: 'operations', auth: 'ops-act', scope: 'ops:write' } as const;
const decision = { params: Type.Object({ slug }), body: { schema: Type.Object({ ids }) } };

export const agentRoutes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listAgents',
    summary: 'List agents',
    description: 'By slug, with the number of sentences pending review.',
    ...reading,
    query: Type.Object(page),
    handler: 'ops-agents',
    replies: { 200: { description: 'A page of agents.', schema: pageOf(items.items) } },
    errors: badCursor,
  }),
  route({
    method: 'GET',
    path: `${root}/usage`,
    operationId: 'listAgentUsage',
    summary: 'List the use of the language model',
    description: 'Calls, tokens and duration by day (UTC), agent and purpose, newest day first.',
    ...reading,
    rpc: agents.rpcs.listUsage,
    query: agents.rpcs.listUsage.request,
    replies: { 200: { description: 'The usage.', schema: agents.rpcs.listUsage.reply } },
  }),
  route({
    method: 'GET',
    path: `${root}/{slug}/knowledge`,
    operationId: 'listAgentKnowledge',
    summary: 'List the knowledge of an agent',
    description: 'Sentences extracted from conversations, oldest first. `mode` says how they are used.',
    ...reading,
    params: Type.Object({ slug }),
    query: Type.Object({ state: agents.rpcs.listSentences.request.properties.state, ...page }),
    handler: 'ops-agent-knowledge',
    replies: {
      200: { description: 'A page of sentences.', schema: Type.Object({ mode, items: Type.Array(sentence), next }) },
    },
    errors: { ...badCursor, ...agentNotFound },
  }),
  route({
    method: 'POST',
    path: `${root}/{slug}/knowledge/approve`,
    operationId: 'approveAgentKnowledge',
    summary: 'Approve sentences of an agent',
    description: 'Approves all of the sentences or none. Approved sentences are part of the prompt for all visitors.',
    ...acting,
    ...decision,
    rpc: agents.rpcs.approveSentences,
    replies: { 200: { description: 'The sentences are approved.', schema: agents.rpcs.approveSentences.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{slug}/knowledge/reject`,
    operationId: 'rejectAgentKnowledge',
    summary: 'Delete sentences of an agent',
    description: 'Permanently deletes all of the sentences, approved or not, and their derived data, or none of them.',
    ...acting,
    ...decision,
    rpc: agents.rpcs.rejectSentences,
    replies: { 200: { description: 'The sentences are deleted.', schema: agents.rpcs.rejectSentences.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{slug}/record`,
    operationId: 'readAgentRecord',
    summary: 'Read the stored chats of an agent',
    description:
      'Threads with messages and memory, oldest first; or the messages of one thread. Thread keys give access to chats: `thread_key` is in the body, because it must not be in a URL. Changes nothing.',
    ...acting,
    deadlineMs: 60_000,
    params: Type.Object({ slug }),
    body: { schema: Type.Object(recordQuery), optional: true },
    rpc: getRecord,
    replies: { 200: { description: 'A page of threads or messages.', schema: getRecord.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/forget`,
    operationId: 'forgetChats',
    summary: 'Delete chats with agents',
    description:
      'Permanently deletes threads with their messages, facts and the knowledge derived from them. Chats of a visitor are deleted again after a restore.',
    ...acting,
    deadlineMs: 60_000,
    body: { schema: forgetThreads.request },
    handler: 'ops-forget',
    replies: { 200: { description: 'The numbers of deleted objects.', schema: forgetThreads.reply } },
    errors: forgetThreads.errors,
  }),
  route({
    method: 'GET',
    path: `${root}/{slug}/webhook`,
    operationId: 'lookUpAgentWebhook',
    summary: 'Read the webhook of an agent at Telegram',
    description: 'As Telegram reports it.',
    ...reading,
    deadlineMs: 40_000,
    params: Type.Object({ slug }),
    rpc: getWebhookInfo,
    replies: { 200: { description: 'The webhook.', schema: getWebhookInfo.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{slug}/webhook`,
    operationId: 'setAgentWebhook',
    summary: 'Register the webhook of an agent at Telegram',
    description: 'Registers address, secret and update types. Superusers only. Can be repeated.',
    ...acting,
    deadlineMs: 40_000,
    params: Type.Object({ slug }),
    body: { schema: Type.Object({ base_url: setWebhook.request.properties.base_url }) },
    rpc: setWebhook,
    replies: { 200: { description: 'The webhook is registered.', schema: setWebhook.reply } },
  }),
];
