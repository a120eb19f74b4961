/** Process entry of the directory service. */
import { runService } from '#libs/lifecycle';
import { loadDirectoryConfig } from './config.ts';
import { createService } from './service.ts';

await runService('directory', () => createService({ config: loadDirectoryConfig() }));
