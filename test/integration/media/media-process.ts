/** The media service in a process of its own, with short leases, to be killed. */
import { runService } from '#libs/lifecycle';
import { fastJobTuning } from '#libs/testing';
import { loadMediaConfig } from '../../../services/media/config.ts';
import { createService } from '../../../services/media/service.ts';

await runService('media', () => createService({ config: loadMediaConfig(), tuning: fastJobTuning }));
