/** How the platform is (P1). */
import { consumerLag, jobCount, nullable, route, Type, webhookCount } from '#libs/contract';

export const overviewRoutes = [
  route({
    method: 'GET',
    path: '/api/ops/overview',
    operationId: 'getOverview',
    tag: 'operations',
    summary: 'How the platform is',
    description:
      'Of each service the process that answers speaks. One that does not answer is not ready, and what it alone can tell is left out. Counts are at most two seconds old.',
    auth: 'ops',
    scope: 'ops:read',
    handler: 'ops-overview',
    replies: {
      200: {
        description: 'Services, dependencies, jobs, webhooks, streams.',
        schema: Type.Object({
          version: Type.String({ description: 'Release of the gateway that answers.' }),
          generated_at: Type.String({ format: 'date-time' }),
          services: Type.Array(
            Type.Object({
              name: Type.String(),
              ready: Type.Boolean({ description: 'Started, not stopping, and every dependency answers.' }),
              version: nullable(Type.String()),
              uptime_seconds: nullable(Type.Integer()),
              missing: Type.Array(Type.String(), {
                description: 'Dependencies that do not answer it; its own name when it does not answer itself.',
              }),
            }),
          ),
          dependencies: Type.Array(
            Type.Object({
              name: Type.String({ description: 'For example `postgresql`, `nats`.' }),
              ready: Type.Boolean({ description: 'It answers every service that needs it and answers itself.' }),
              detail: nullable(Type.String({ description: 'Which services miss it, and what they say.' })),
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
            { description: 'Webhooks that wait in the gateway that answers, since the broker is away.' },
          ),
          logins: Type.Object({ failed_last_hour: Type.Integer({ description: 'Logins that were refused.' }) }),
        }),
      },
    },
  }),
];
