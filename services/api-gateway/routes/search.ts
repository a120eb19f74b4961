/** Discovery: search and summary (rules/discovery#search-and-summary; D5, D18f, D18g). */
import { route, Type } from '#libs/contract';
import { conversations, searchFilters, SearchItem, SearchSort } from '#services/conversations';

const path = '/api/coherence/conversations';

export const searchRoutes = [
  route({
    method: 'GET',
    path: `${path}/search`,
    operationId: 'searchConversations',
    tag: 'conversations',
    summary: 'Search conversations',
    description:
      'Never creates a conversation. Without filters it lists every conversation that the caller may see; filters combine with AND. The response is ' +
      'streamed and has no size limit. Conversations of a holon of a private class are visible to callers who can see the holon.',
    auth: 'user',
    scope: 'conversations:read',
    query: Type.Object({ ...searchFilters, sort: Type.Optional(SearchSort) }),
    rpc: conversations.rpcs.search,
    replies: { 200: { description: 'The conversations found, in order.', schema: Type.Array(SearchItem) } },
    errors: { not_found: { code: 'not_found', when: 'The target of a filter does not exist.' } },
  }),
  route({
    method: 'GET',
    path: `${path}/{conversation_id}/summary`,
    operationId: 'getConversationSummary',
    tag: 'conversations',
    summary: 'Read one conversation as a search item',
    auth: 'user',
    scope: 'conversations:read',
    params: Type.Object({ conversation_id: Type.Integer({ description: 'Id of the conversation.' }) }),
    rpc: conversations.rpcs.summarize,
    etag: true,
    replies: { 200: { description: 'The conversation.', schema: SearchItem } },
    errors: { not_found: { code: 'not_found', when: 'The conversation does not exist or is not visible to the caller.' } },
  }),
];
