/** Runs the transcripts service as a separate process with short leases, so that tests can kill it. */
import { runService } from '#libs/infrastructure/lifecycle';
import { fastJobTuning } from '#libs/product/testing';
import { loadTranscriptsConfig } from '../../../services/transcripts/config.ts';
import { createService } from '../../../services/transcripts/service.ts';

await runService('transcripts', async () => {
  const service = await createService({ config: loadTranscriptsConfig(), tuning: fastJobTuning });
  return {
    ...service,
    start: async () => {
      await service.start();
      process.send?.({ ready: true });
    },
  };
});
