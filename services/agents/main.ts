/** Entry point of the agents service. */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadAgentsConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main) await runService('agents', () => createService({ config: loadAgentsConfig() }));
