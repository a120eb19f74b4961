/**
 * Process entry of the directory service. The heap grows in small steps, since long streamed replies would otherwise
 * grow it by hundreds of megabytes.
 */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadDirectoryConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main)
  await runService('directory', () => createService({ config: loadDirectoryConfig() }), { heapGrowingPercent: 20 });
