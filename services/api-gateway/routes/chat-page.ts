/**
 * Routes of the home page, and of the page on which visitors write to an agent. The pages use the public API. The
 * OpenAPI documents describe that API, but not these routes.
 */
import { route, Type } from '#libs/infrastructure/contract';

/**
 * The page is shown even when the agents service does not respond within this time; the first message then reports the
 * failure.
 */
const pageDeadlineMs = 3_000;

export const chatPageRoutes = [
  route({
    method: 'GET',
    path: '/',
    operationId: 'home-page',
    tag: 'Chat',
    summary: 'Home page',
    auth: 'none',
    documented: false,
    handler: 'home-page',
    replies: { 200: { description: 'The page.', contentType: 'text/html' } },
  }),
  route({
    method: 'GET',
    path: '/favicon.ico',
    operationId: 'icon',
    tag: 'Chat',
    summary: 'Default icon',
    auth: 'none',
    documented: false,
    handler: 'icon',
    replies: { 200: { description: 'The icon.', contentType: 'image/svg+xml' } },
  }),
  route({
    method: 'GET',
    path: '/chat/{agent_slug}',
    operationId: 'chat-page',
    tag: 'Chat',
    summary: 'Chat page of an agent',
    auth: 'none',
    documented: false,
    params: Type.Object({ agent_slug: Type.String() }),
    query: Type.Object({
      lang: Type.Optional(Type.String({ description: 'Language of the page. Default: the language of the browser.' })),
    }),
    handler: 'chat-page',
    deadlineMs: pageDeadlineMs,
    replies: {
      200: { description: 'The page.', contentType: 'text/html' },
      404: { description: 'No agent has the slug.' },
    },
  }),
  route({
    method: 'GET',
    path: '/chat/embed.js',
    operationId: 'chat-embed',
    tag: 'Chat',
    summary: 'Script that embeds the chat page on another site',
    auth: 'none',
    documented: false,
    handler: 'chat-embed',
    replies: { 200: { description: 'The script.' } },
  }),
  route({
    method: 'GET',
    path: '/chat/assets/{version}/{file}',
    operationId: 'chat-page-asset',
    tag: 'Chat',
    summary: 'Asset of the chat page',
    auth: 'none',
    documented: false,
    params: Type.Object({ version: Type.String(), file: Type.String() }),
    handler: 'chat-page-asset',
    replies: { 200: { description: 'The file.' }, 404: { description: 'The file does not exist.' } },
  }),
];
