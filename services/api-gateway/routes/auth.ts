/** Login, logout and whoami (rules/access#login; D40). */
import { route, Type } from '#libs/contract';
import { directory, sessionsQuery } from '#services/directory';

const rateLimited = {
  rate_limited: {
    code: 'rate_limited',
    when: 'Too many logins from this address, too many failures of this email from it, or too many wrong gate keys.',
  },
} as const;

export const authRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/auth/login',
    operationId: 'login',
    tag: 'auth',
    summary: 'Exchange credentials for a token',
    description: 'A wrong gate key, email or password and an inactive account are all answered alike. The token is valid for 24 hours.',
    auth: 'login-gate',
    body: { schema: Type.Object({ email: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) }) },
    rpc: directory.rpcs.login,
    toRequest: ({ body, ip }) => ({ ...body, ip }),
    replies: { 200: { description: 'The token and the person behind the account.', schema: directory.rpcs.login.reply } },
    errors: rateLimited,
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/logout',
    operationId: 'logout',
    tag: 'auth',
    summary: 'Revoke the current token',
    auth: 'v1',
    scope: null,
    body: { schema: Type.Object({}), optional: true },
    handler: 'logout',
    replies: { 200: { description: 'The token is not accepted any more.', schema: directory.rpcs.logout.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/whoami',
    operationId: 'whoami',
    tag: 'auth',
    summary: 'The person behind the token',
    auth: 'v1',
    scope: null,
    rpc: directory.rpcs.whoami,
    replies: { 200: { description: "The caller's person.", schema: directory.rpcs.whoami.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/password',
    operationId: 'changePassword',
    tag: 'auth',
    summary: 'Change your password',
    description:
      'Every session of the account ends, that of this request too: log in with the new password. Wrong passwords count like failed logins.',
    auth: 'v1',
    scope: null,
    body: {
      schema: Type.Object({
        current: Type.String({ maxLength: 4_000, description: 'The password as it is.' }),
        new: Type.String({ maxLength: 4_000, description: '12 to 128 characters, and not easy to guess.' }),
      }),
    },
    rpc: directory.rpcs.changePassword,
    toRequest: ({ body, ip }) => ({ ...body, ip }),
    replies: { 200: { description: 'The new password is the one that counts.', schema: directory.rpcs.changePassword.reply } },
    errors: rateLimited,
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/sessions',
    operationId: 'listSessions',
    tag: 'auth',
    summary: 'List your sessions',
    description: 'Logins of the account whose tokens are still accepted, newest first.',
    auth: 'v1',
    scope: null,
    query: sessionsQuery,
    rpc: directory.rpcs.listSessions,
    replies: { 200: { description: 'One page.', schema: directory.rpcs.listSessions.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/sessions/{session_id}/revoke',
    operationId: 'revokeSession',
    tag: 'auth',
    summary: 'End one of your sessions',
    description: 'Its token is not accepted any more, anywhere. It may be sent again; that of the request itself may be ended, too.',
    auth: 'v1',
    scope: null,
    params: Type.Object({ session_id: Type.String({ description: 'Id of the session.' }) }),
    body: { schema: Type.Object({}), optional: true },
    handler: 'revoke-session',
    replies: { 200: { description: 'The session has ended.', schema: directory.rpcs.revokeSession.reply } },
    errors: directory.rpcs.revokeSession.errors,
  }),
];
