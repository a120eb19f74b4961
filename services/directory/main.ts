/** Process entry of the directory service. Its answers stream long lists, whose rows would pile up to hundreds of megabytes. */
import { runService } from '#libs/lifecycle';
import { loadDirectoryConfig } from './config.ts';
import { createService } from './service.ts';

if (import.meta.main) await runService('directory', () => createService({ config: loadDirectoryConfig() }), { heapGrowingPercent: 20 });
