/**
 * Process entry of the conversations service. The heap may grow by 100 % between collections because of the directory
 * cache; with a lower limit, a search spends half of its time on garbage collection.
 */
import { runService } from '#libs/infrastructure/lifecycle';
import { loadConversationsConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main)
  await runService('conversations', () => createService({ config: loadConversationsConfig() }), {
    heapGrowingPercent: 100,
  });
