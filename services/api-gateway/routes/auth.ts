/** Login, logout and whoami (rules/access#login; D40). */
import { route, Type } from '#libs/infrastructure/contract';
import { directory, sessionsQuery } from '#services/directory';

const rateLimited = {
  rate_limited: {
    code: 'rate_limited',
    when: 'Too many logins or wrong gate keys from this address, or too many failed logins for this email from it.',
  },
} as const;

export const authRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/auth/login',
    operationId: 'login',
    tag: 'auth',
    summary: 'Exchange credentials for a token',
    description:
      'A wrong gate key, email or password and an inactive account return the same error. The token is valid for 24 hours.',
    auth: 'login-gate',
    body: {
      schema: Type.Object({ email: Type.String({ maxLength: 1_000 }), password: Type.String({ maxLength: 4_000 }) }),
    },
    rpc: directory.rpcs.login,
    toRequest: ({ body, ip }) => ({ ...body, ip }),
    replies: { 200: { description: 'The token and the person of the account.', schema: directory.rpcs.login.reply } },
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
    loginOnly: true,
    body: { schema: Type.Object({}), optional: true },
    handler: 'logout',
    replies: { 200: { description: 'The token is revoked.', schema: directory.rpcs.logout.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/whoami',
    operationId: 'whoami',
    tag: 'auth',
    summary: 'Read the person of the token',
    auth: 'v1',
    scope: null,
    rpc: directory.rpcs.whoami,
    etag: true,
    replies: { 200: { description: "The caller's person.", schema: directory.rpcs.whoami.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/auth/password',
    operationId: 'changePassword',
    tag: 'auth',
    summary: 'Change your password',
    description:
      'Ends all sessions of the account, including the session of this request. Wrong passwords count as failed logins.',
    auth: 'v1',
    scope: null,
    loginOnly: true,
    body: {
      schema: Type.Object({
        current: Type.String({ maxLength: 4_000, description: 'The current password.' }),
        new: Type.String({ maxLength: 4_000, description: '12 to 128 characters. Common passwords are rejected.' }),
      }),
    },
    rpc: directory.rpcs.changePassword,
    toRequest: ({ body, ip }) => ({ ...body, ip }),
    replies: { 200: { description: 'The password is changed.', schema: directory.rpcs.changePassword.reply } },
    errors: rateLimited,
  }),
  route({
    method: 'GET',
    path: '/api/v1/auth/sessions',
    operationId: 'listSessions',
    tag: 'auth',
    summary: 'List your sessions',
    description: 'Sessions of the account with valid tokens, newest first.',
    auth: 'v1',
    scope: null,
    loginOnly: true,
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
    description:
      'Revokes the token of the session. The operation can be repeated, and can end the session of the request itself.',
    auth: 'v1',
    scope: null,
    loginOnly: true,
    params: Type.Object({ session_id: Type.String({ description: 'Id of the session.' }) }),
    body: { schema: Type.Object({}), optional: true },
    handler: 'revoke-session',
    replies: { 200: { description: 'The session has ended.', schema: directory.rpcs.revokeSession.reply } },
    errors: directory.rpcs.revokeSession.errors,
  }),
];
