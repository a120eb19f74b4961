/** State of the platform (P1). */
import { consumerLag, jobCount, nullable, route, Type, webhookCount } from '#libs/infrastructure/contract';

export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/ops/overview',
    operationId: 'getOverview',
    tag: 'operations',
    summary: 'Get the platform status',
    description:
      'One process of each service reports its status. A service that does not answer is not ready, and its figures are missing. Counts are at most two seconds old.',
    auth: 'ops',
    scope: 'ops:read',
    handler: 'ops-overview',
    replies: {
      200: {
        description: 'Services, dependencies, jobs, webhooks, streams.',
        schema: Type.Object({
          version: Type.String({ description: 'Release of this gateway.' }),
          generated_at: Type.String({ format: 'date-time' }),
          services: Type.Array(
            Type.Object({
              name: Type.String(),
              ready: Type.Boolean({ description: 'Started, not stopping, and every dependency answers.' }),
              version: nullable(Type.String()),
              uptime_seconds: nullable(Type.Integer()),
              missing: Type.Array(Type.String(), {
                description: 'Dependencies that the service cannot reach; its own name if the service does not answer.',
              }),
            }),
          ),
          dependencies: Type.Array(
            Type.Object({
              name: Type.String({ description: 'For example `postgresql`, `nats`.' }),
              ready: Type.Boolean({ description: 'All services that need it can reach it.' }),
              detail: nullable(Type.String({ description: 'Services that cannot reach it, with their errors.' })),
            }),
          ),
          jobs: Type.Array(Type.Object({ service: Type.String(), ...jobCount.properties })),
          webhooks: Type.Array(webhookCount),
          streams: Type.Array(
            Type.Object(
              {
                name: Type.String(),
                messages: Type.Integer(),
                bytes: Type.Integer(),
                consumers: Type.Array(Type.Omit(consumerLag, ['stream'])),
              },
              { $id: 'StreamStatus' },
            ),
          ),
          spool: Type.Object(
            { entries: Type.Integer(), bytes: Type.Integer() },
            { description: 'Webhooks buffered on disk by this gateway while the broker is unavailable.' },
          ),
          logins: Type.Object({ failed_last_hour: Type.Integer({ description: 'Rejected logins.' }) }),
        }),
      },
    },
  }),
];
