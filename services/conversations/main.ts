/** Process entry of the conversations service. */
import { runService } from '#libs/lifecycle';
import { loadConversationsConfig } from './config.ts';
import { createService } from './service.ts';

await runService('conversations', () => createService({ config: loadConversationsConfig() }));
