/** Runs the agents service in a separate process with short leases, so that tests can kill it. */
import { runService } from '#libs/infrastructure/lifecycle';
import { fastJobTuning } from '#libs/product/testing';
import { loadAgentsConfig } from '../../../services/agents/config.ts';
import { createService } from '../../../services/agents/service.ts';

const tuning = { ...fastJobTuning, turnLeaseMs: 2_000 };
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
