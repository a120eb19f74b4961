/** Runs the media service as a separate process with short leases, so that tests can kill it. */
import { runService } from '#libs/infrastructure/lifecycle';
import { fastJobTuning } from '#libs/product/testing';
import { loadMediaConfig } from '../../../services/media/config.ts';
import { createService } from '../../../services/media/service.ts';

await runService('media', () => createService({ config: loadMediaConfig(), tuning: fastJobTuning }));
