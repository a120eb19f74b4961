/** Loads what the services of its arguments load, of the folder where it runs, and ends: Node keeps the compiled code (compile-cache.ts). */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const service of process.argv.slice(2)) {
  await import(pathToFileURL(join(process.cwd(), 'services', service, 'main.ts')).href);
}
