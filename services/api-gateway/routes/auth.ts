/** Login, logout and whoami (rules/access#login; D40). */
import { route, Type } from '#libs/contract';
import { directory } from '#services/directory';

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
    rpc: directory.rpcs.whoami,
    replies: { 200: { description: "The caller's person.", schema: directory.rpcs.whoami.reply } },
  }),
];
