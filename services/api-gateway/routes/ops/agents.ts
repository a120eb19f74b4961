/** Agents, and which of their sentences other threads can use (D70). */
import { nullable, route, Type } from '#libs/contract';
import { agents, sentence } from '#services/agents';
import { badCursor, page, pageOf } from './filters.ts';

const root = '/api/ops/agents';
const next = nullable(Type.String({ description: '`cursor` of the next page; null at the end.' }));
const slug = Type.String({ maxLength: 100, description: 'Slug of the agent.' });

const { items } = agents.rpcs.listAgents.reply.properties;
const { mode } = agents.rpcs.listSentences.reply.properties;
const { ids } = agents.rpcs.approveSentences.request.properties;

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
];
