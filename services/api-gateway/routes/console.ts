/** The console for operators and editors. What its pages show and do is the public APIs', which the documents describe (P6, S3). */
import { route, Type } from '#libs/contract';
import { directory } from '#services/directory';

const page = { method: 'GET', tag: 'console', auth: 'none', documented: false } as const;
const shown = { 200: { description: 'The page.', contentType: 'text/html' } } as const;
const away = { 303: { description: 'To the identity provider, or to the console.' } } as const;
const text = Type.String();

export const consoleRoutes = [
  route({ ...page, path: '/console', operationId: 'console', summary: 'The console', handler: 'console-page', replies: shown }),
  route({
    ...page,
    path: '/console/sign-in',
    operationId: 'console-begin-sign-in',
    summary: 'To the identity provider',
    handler: 'console-begin-sign-in',
    replies: away,
  }),
  route({
    ...page,
    path: '/console/sign-in/callback',
    operationId: 'console-finish-sign-in',
    summary: 'Back from the identity provider',
    handler: 'console-finish-sign-in',
    replies: away,
  }),
  route({
    ...page,
    path: '/console/sign-out',
    operationId: 'console-leave-provider',
    summary: 'To the end of the session at the identity provider',
    handler: 'console-leave-provider',
    replies: away,
  }),
  route({
    ...page,
    path: '/console/{page}',
    operationId: 'console-page',
    summary: 'A page of the console',
    params: Type.Object({ page: text }),
    handler: 'console-page',
    replies: shown,
  }),
  route({
    ...page,
    path: '/console/{page}/{first}',
    operationId: 'console-item',
    summary: 'A page about one thing',
    params: Type.Object({ page: text, first: text }),
    handler: 'console-page',
    replies: shown,
  }),
  route({
    ...page,
    path: '/console/{page}/{first}/{second}',
    operationId: 'console-item-of-service',
    summary: 'A page about one thing of a service',
    params: Type.Object({ page: text, first: text, second: text }),
    handler: 'console-page',
    replies: shown,
  }),
  route({
    ...page,
    path: '/console/assets/{version}/{file}',
    operationId: 'console-asset',
    summary: 'A file of the console',
    params: Type.Object({ version: text, file: text }),
    handler: 'console-asset',
    replies: { 200: { description: 'The file.' }, 404: { description: 'There is no such file.' } },
  }),
  route({
    ...page,
    method: 'POST',
    path: '/console/session',
    operationId: 'console-sign-in',
    summary: 'Begin a session of the console by email and password',
    body: { schema: Type.Object({ email: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) }) },
    handler: 'console-sign-in',
    replies: {
      200: { description: 'The session is in the cookie.', schema: Type.Object({ person: directory.rpcs.login.reply.properties.person }) },
    },
  }),
];
