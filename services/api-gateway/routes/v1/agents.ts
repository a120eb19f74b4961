/** Agents for editors of the set-up (W6). */
import { route, Type } from '#libs/infrastructure/contract';
import { agentHistoryQuery, agentListQuery, agents, agentUpdate, newAgent } from '#services/agents';
import { ifMatch } from '../if-match.ts';

const root = '/api/v1/agents';
const one = `${root}/{slug}`;
const params = Type.Object({ slug: Type.String({ description: 'Slug of the agent.' }) });
const reading = { tag: 'agents', auth: 'v1', scope: 'workspace:read' } as const;
const writing = { tag: 'agents', auth: 'v1', scope: 'workspace:write' } as const;
const { listWorkspaceAgents, getWorkspaceAgent, createAgent, updateAgent, deleteAgent, listAgentHistory } = agents.rpcs;

export const agentV1Routes = [
  route({
    method: 'GET',
    path: root,
    operationId: 'listWorkspaceAgents',
    summary: 'List agents with their settings',
    description: 'For superusers and the group `workspace_editors`. A page can have fewer items than `limit`.',
    ...reading,
    query: agentListQuery,
    rpc: listWorkspaceAgents,
    replies: { 200: { description: 'A page of agents.', schema: listWorkspaceAgents.reply } },
  }),
  route({
    method: 'POST',
    path: root,
    operationId: 'createAgent',
    summary: 'Create an agent',
    description: 'Validated like an agent of the workspace file.',
    ...writing,
    body: { schema: newAgent },
    rpc: createAgent,
    status: 201,
    etag: true,
    replies: { 201: { description: 'The agent.', schema: createAgent.reply } },
  }),
  route({
    method: 'GET',
    path: one,
    operationId: 'getWorkspaceAgent',
    summary: 'Read one agent with its settings',
    description: 'Secrets of `config` are returned as `{"set": true}`.',
    ...reading,
    params,
    rpc: getWorkspaceAgent,
    etag: true,
    replies: { 200: { description: 'The agent.', schema: getWorkspaceAgent.reply } },
  }),
  route({
    method: 'POST',
    path: `${one}/update`,
    operationId: 'updateAgent',
    summary: 'Change an agent',
    description: 'Changes the fields in the request, all of them or none. `infos` is replaced, `config` is merged.',
    ...writing,
    params,
    headers: ifMatch('agent'),
    body: { schema: agentUpdate },
    rpc: updateAgent,
    toRequest: ({ params: { slug }, headers, body }) => ({ ...body, slug, if_match: headers['If-Match'] }),
    etag: true,
    replies: { 200: { description: 'The updated agent and the changes.', schema: updateAgent.reply } },
  }),
  route({
    method: 'DELETE',
    path: one,
    operationId: 'deleteAgent',
    summary: 'Delete an agent',
    description: 'Its settings are removed. Operators can still read its threads.',
    ...writing,
    params,
    headers: ifMatch('agent'),
    rpc: deleteAgent,
    toRequest: ({ params: { slug }, headers }) => ({ slug, if_match: headers['If-Match'] }),
    status: 204,
    replies: { 204: { description: 'The agent is deleted.' } },
  }),
  route({
    method: 'GET',
    path: `${root}/{id}/history`,
    operationId: 'listAgentHistory',
    summary: 'List changes of an agent',
    description:
      'Newest first. Entries are stored for `HISTORY_RETENTION_DAYS`. Values of secrets are not stored; an entry says only that they changed.',
    ...reading,
    params: Type.Object({ id: Type.String({ description: 'Id or slug of the agent.' }) }),
    query: agentHistoryQuery,
    rpc: listAgentHistory,
    replies: { 200: { description: 'A page of changes.', schema: listAgentHistory.reply } },
  }),
];
