/** Process entry of the media service. */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadMediaConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main) await runService('media', () => createService({ config: loadMediaConfig() }));
