/** Loads the modules of the given services and exits, so that Node stores their compiled code (compile-cache.ts). */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const service of process.argv.slice(2)) {
  await import(pathToFileURL(join(process.cwd(), 'services', service, 'main.ts')).href);
}
