/** Process entry of the events service. */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadEventsConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main) await runService('events', () => createService({ config: loadEventsConfig() }));
