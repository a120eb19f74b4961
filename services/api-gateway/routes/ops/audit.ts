/** The audit log over all services (A3). */
import { publicAuditEntry, route, Type } from '#libs/contract';
import { badCursor, cursor, instant, limitOf, pageOf } from './filters.ts';

export const auditRoutes = [
  route({
    method: 'GET',
    path: '/api/ops/audit',
    operationId: 'listAudit',
    tag: 'operations',
    summary: 'List audit log entries',
    description:
      'Logins, account and configuration changes, and operator actions, newest first. Entries are immutable and stored for `AUDIT_RETENTION_DAYS`.',
    auth: 'ops',
    scope: 'ops:read',
    query: Type.Object({
      actor: Type.Optional(
        Type.String({ minLength: 1, maxLength: 320, description: 'Email or id of the acting account.' }),
      ),
      action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'For example `login`.' })),
      target: Type.Optional(
        Type.String({ pattern: '^[^:]{1,100}:.{1,200}$', description: '`type:id`, for example `account:7`.' }),
      ),
      from: Type.Optional(instant('Entries at or after this time.')),
      to: Type.Optional(instant('Entries before this time.')),
      service: Type.Optional(
        Type.Enum(['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'], {
          description: 'Entries of the log of this service.',
        }),
      ),
      limit: limitOf('Entries of a page'),
      cursor: Type.Optional(cursor),
    }),
    handler: 'audit',
    replies: {
      200: {
        description: 'A page of entries.',
        schema: pageOf(publicAuditEntry),
      },
    },
    errors: badCursor,
  }),
];
