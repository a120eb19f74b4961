/** The transcripts service in a process of its own, with short leases, to be killed. */
import { runService } from '#libs/lifecycle';
import { loadTranscriptsConfig } from '../../../services/transcripts/config.ts';
import { createService } from '../../../services/transcripts/service.ts';

const tuning = { leaseMs: 2_500, sweepMs: 800, pollMs: 400, queuedTooLongMs: 4_000, stopGraceMs: 2_000 };
await runService('transcripts', async () => {
  const service = await createService({ config: loadTranscriptsConfig(), tuning });
  return {
    ...service,
    start: async () => {
      await service.start();
      process.send?.({ ready: true });
    },
  };
});
