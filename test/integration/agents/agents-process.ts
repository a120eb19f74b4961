/** The agents service in a process of its own, with short leases, to be killed. */
import { runService } from '#libs/lifecycle';
import { fastJobTuning } from '#libs/testing';
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
