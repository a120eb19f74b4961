/** Process entry of the agents service. */
import { runService } from '#libs/lifecycle';
import { loadAgentsConfig } from './config.ts';
import { createService } from './service.ts';

await runService('agents', () => createService({ config: loadAgentsConfig() }));
