/** The page on which visitors write to an agent. It uses the public API, which the documents describe, not itself. */
import { route, type Route, Type } from '#libs/contract';

/** An agents service that does not answer keeps nobody from the page: it is shown, and its first message tells. */
const pageDeadlineMs = 3_000;

export const chatPageRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/chat/{agent_slug}',
    operationId: 'chat-page',
    tag: 'Chat',
    summary: 'The page of an agent for visitors',
    auth: 'none',
    documented: false,
    params: Type.Object({ agent_slug: Type.String() }),
    handler: 'chat-page',
    deadlineMs: pageDeadlineMs,
    replies: { 200: { description: 'The page.', contentType: 'text/html' }, 404: { description: 'No agent has the slug.' } },
  }),
  route({
    method: 'GET',
    path: '/chat/assets/{version}/{file}',
    operationId: 'chat-page-asset',
    tag: 'Chat',
    summary: 'A file of the page',
    auth: 'none',
    documented: false,
    params: Type.Object({ version: Type.String(), file: Type.String() }),
    handler: 'chat-page-asset',
    replies: { 200: { description: 'The file.' }, 404: { description: 'There is no such file.' } },
  }),
];
