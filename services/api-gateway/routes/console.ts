/**
 * Routes of the console for operators and editors. Its pages use only the public APIs, which the OpenAPI documents
 * describe (P6, S3).
 */
import { route, Type } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';

const page = { method: 'GET', tag: 'console', auth: 'none', documented: false } as const;
const pageReply = { 200: { description: 'The page.', contentType: 'text/html' } } as const;
const redirect = { 303: { description: 'Redirect to the identity provider or to the console.' } } as const;
const text = Type.String();

export const consoleRoutes = [
  route({
    ...page,
    path: '/console',
    operationId: 'console',
    summary: 'The console',
    handler: 'console-page',
    replies: pageReply,
  }),
  route({
    ...page,
    path: '/console/sign-in',
    operationId: 'console-begin-sign-in',
    summary: 'Redirect to the identity provider',
    handler: 'console-begin-sign-in',
    replies: redirect,
  }),
  route({
    ...page,
    path: '/console/sign-in/callback',
    operationId: 'console-finish-sign-in',
    summary: 'Callback of the identity provider',
    handler: 'console-finish-sign-in',
    replies: redirect,
  }),
  route({
    ...page,
    path: '/console/sign-out',
    operationId: 'console-leave-provider',
    summary: 'Sign out at the identity provider',
    handler: 'console-leave-provider',
    replies: redirect,
  }),
  route({
    ...page,
    path: '/console/{page}',
    operationId: 'console-page',
    summary: 'A page of the console',
    params: Type.Object({ page: text }),
    handler: 'console-page',
    replies: pageReply,
  }),
  route({
    ...page,
    path: '/console/{page}/{first}',
    operationId: 'console-item',
    summary: 'A detail page',
    params: Type.Object({ page: text, first: text }),
    handler: 'console-page',
    replies: pageReply,
  }),
  route({
    ...page,
    path: '/console/{page}/{first}/{second}',
    operationId: 'console-item-of-service',
    summary: 'A detail page of a service object',
    params: Type.Object({ page: text, first: text, second: text }),
    handler: 'console-page',
    replies: pageReply,
  }),
  route({
    ...page,
    path: '/console/assets/{version}/{file}',
    operationId: 'console-asset',
    summary: 'Asset of the console',
    params: Type.Object({ version: text, file: text }),
    handler: 'console-asset',
    replies: { 200: { description: 'The file.' }, 404: { description: 'The file does not exist.' } },
  }),
  route({
    ...page,
    method: 'POST',
    path: '/console/session',
    operationId: 'console-sign-in',
    summary: 'Sign in to the console with email and password',
    body: {
      schema: Type.Object({ email: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) }),
    },
    handler: 'console-sign-in',
    replies: {
      200: {
        description: 'Signed in. The cookie has the session.',
        schema: Type.Object({ person: directory.rpcs.login.reply.properties.person }),
      },
    },
  }),
  route({
    ...page,
    path: '/console/invitation',
    operationId: 'console-invitation',
    summary: 'The page that sets a password with an invitation',
    handler: 'console-page',
    replies: pageReply,
  }),
  route({
    ...page,
    method: 'POST',
    path: '/console/invitation',
    operationId: 'console-accept-invitation',
    summary: 'Set a password with an invitation',
    body: {
      schema: Type.Object({ token: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) }),
    },
    handler: 'console-accept-invitation',
    replies: {
      200: { description: 'The password is set.', schema: directory.rpcs.acceptInvitation.reply },
      410: { description: 'The invitation has ended.' },
    },
  }),
];
