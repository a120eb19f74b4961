/** The agents service in a process of its own, with short leases, to be killed. */
import { runService } from '#libs/lifecycle';
import { loadAgentsConfig } from '../../../services/agents/config.ts';
import { createService } from '../../../services/agents/service.ts';

const tuning = { leaseMs: 2_500, sweepMs: 800, pollMs: 400, queuedTooLongMs: 4_000, turnLeaseMs: 2_000, stopGraceMs: 2_000 };
await runService('agents', async () => {
  const service = await createService({ config: loadAgentsConfig(), tuning });
  return {
    ...service,
    start: async () => {
      await service.start();
      process.send?.({ ready: true });
    },
  };
});
