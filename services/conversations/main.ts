/**
 * Process entry of the conversations service. Its heap, with what it keeps of the directory in it, is cleaned when it has doubled: with less, a
 * search spends half of its time on the cleaning.
 */
import { runService } from '#libs/lifecycle';
import { loadConversationsConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main)
  await runService('conversations', () => createService({ config: loadConversationsConfig() }), { heapGrowingPercent: 100 });
