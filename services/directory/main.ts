/**
 * Process entry of the directory service. Long streamed replies would otherwise grow the heap by hundreds of megabytes.
 */
import { runService } from '#libs/lifecycle';
import { loadDirectoryConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main)
  await runService('directory', () => createService({ config: loadDirectoryConfig() }), { heapGrowingPercent: 20 });
