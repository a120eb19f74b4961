/** The audit log over all services (A3), and changes of the configuration of steps (D16b). */
import { publicAuditEntry, route, Type } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';
import { badCursor, cursor, instant, limitOf, pageOf } from './filters.ts';

const { listConfigAudit } = directory.rpcs;

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
  route({
    method: 'GET',
    path: '/api/ops/journeys/{journey_slug}/steps/{step_slug}/config-audit',
    operationId: 'listStepConfigAudit',
    tag: 'operations',
    summary: 'List changes of the configuration of a step',
    description: 'Account and changed dotted paths without values, newest first; stored permanently.',
    auth: 'ops',
    scope: 'ops:read',
    params: Type.Object({
      journey_slug: Type.String({ maxLength: 200, description: 'Slug of the journey.' }),
      step_slug: Type.String({ maxLength: 200, description: 'Slug of the step.' }),
    }),
    query: Type.Object({ limit: listConfigAudit.request.properties.limit }),
    rpc: listConfigAudit,
    replies: { 200: { description: 'The changes.', schema: listConfigAudit.reply } },
    errors: { not_found: { code: 'not_found', when: 'The step does not exist.' } },
  }),
];
