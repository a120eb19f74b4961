/** Handles `GET /api/ops/overview`: reports of all services (P1). */
import type { RouteHandlers } from '#libs/infrastructure/http';
import { streamNames } from '#libs/infrastructure/nats';
import { composeOverview } from '#libs/product/overview';
import type { Dependencies } from '../../dependencies.ts';
import type { overviewRoutes } from '../../routes/ops/overview.ts';
import { contracts, serviceNames } from './shared.ts';

/** The checks of a service take at most two seconds of this timeout. */
const describeTimeoutMs = 4_000;

export function createOverviewHandlers({
  bus,
  telemetry,
  intake,
}: Pick<Dependencies, 'bus' | 'telemetry' | 'intake'>): RouteHandlers<(typeof overviewRoutes)[number]> {
  return {
    'ops-overview': async ({ call, answer }) => {
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
    },
  };
}
