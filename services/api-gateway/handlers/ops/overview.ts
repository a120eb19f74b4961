/** `GET /api/ops/overview`: reports of all services (P1). */
import type { ReplyBodyOf, HandledRoute, InputOf } from '#libs/contract';
import type { RouteHandler } from '#libs/http';
import { type Bus, streamNames } from '#libs/nats';
import { composeOverview } from '#libs/overview';
import type { Telemetry } from '#libs/telemetry';
import type { overviewRoutes } from '../../routes/ops/overview.ts';
import type { WebhookIntake } from '../webhook-intake.ts';
import { contracts, serviceNames } from './shared.ts';

type OverviewRoute = Extract<(typeof overviewRoutes)[number], HandledRoute<'ops-overview'>>;

/** The checks of a service take at most two seconds. */
const describeTimeoutMs = 4_000;

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
        return bus.call(rpcs.describeService, {}, { ...call, deadlineMs: Date.now() + describeTimeoutMs });
      },
      streams: streamNames,
      streamSize: (name) => bus.streamSize(name),
    });
    answer({ ...overview, spool: intake.spool });
  };
}
