/** The audit log over all services (A3). */
import { publicAuditEntry, route, Type } from '#libs/contract';

const instant = (description: string) => Type.Optional(Type.String({ format: 'date-time-offset', description }));

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/api/ops/audit',
    operationId: 'listAudit',
    tag: 'operations',
    summary: 'List who did what',
    description:
      'Logins, changes of accounts and of configuration, and what operators did, newest first. Entries are never changed; they are kept for `AUDIT_RETENTION_DAYS`.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({
      actor: Type.Optional(Type.String({ minLength: 1, maxLength: 320, description: 'Email or id of the account that acted.' })),
      action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'For example `login`.' })),
      target: Type.Optional(Type.String({ pattern: '^[^:]{1,100}:.{1,200}$', description: '`type:id`, for example `account:7`.' })),
      from: instant('Entries of then or later.'),
      to: instant('Entries of before.'),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 200, default: 50, description: 'Entries of a page, default 50, at most 200.' }),
      ),
      cursor: Type.Optional(Type.String({ maxLength: 400, description: '`next` of the page before.' })),
    }),
    handler: 'audit',
    replies: {
      200: {
        description: 'A page of entries.',
        schema: Type.Object({
          items: Type.Array(publicAuditEntry),
          next: Type.Union([Type.String(), Type.Null()], { description: '`cursor` of the next page; null at the end.' }),
        }),
      },
    },
    errors: { bad_cursor: { code: 'bad_request', when: 'The cursor is none of this list.' } },
  }),
];
