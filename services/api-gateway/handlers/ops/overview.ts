/** `GET /api/ops/overview`: what every service says of itself, put together (P1). */
import type { ReplyBodyOf, HandledRoute, InputOf } from '#libs/contract';
import type { RouteHandler } from '#libs/http';
import { type Bus, streamNames } from '#libs/nats';
import { composeOverview } from '#libs/overview';
import type { Telemetry } from '#libs/telemetry';
import type { overviewRoutes } from '../../routes/ops/overview.ts';
import type { WebhookIntake } from '../webhook-intake.ts';
import { contracts, serviceNames } from './services.ts';

type OverviewRoute = Extract<(typeof overviewRoutes)[number], HandledRoute<'ops-overview'>>;

/** Time for a service to answer: its own checks take two seconds at most. */
const patienceMs = 4_000;

export function createOverview(parts: {
  readonly bus: Bus;
  readonly telemetry: Pick<Telemetry, 'describe'>;
  readonly intake: Pick<WebhookIntake, 'spool'>;
}): RouteHandler<InputOf<OverviewRoute>, ReplyBodyOf<OverviewRoute>> {
  const { bus, telemetry, intake } = parts;
  return async ({ call, answer }) => {
    const overview = await composeOverview({
      services: ['api-gateway', ...serviceNames],
      describe: (name) => {
        if (name === 'api-gateway') return telemetry.describe();
        const { rpcs } = contracts[name];
        return bus.call(rpcs.describeService, {}, { ...call, deadlineMs: Date.now() + patienceMs });
      },
      streams: streamNames,
      streamSize: (name) => bus.streamSize(name),
    });
    answer({ ...overview, spool: intake.spool });
  };
}
