import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Returns a digest of all migrations and of the libraries that they use. It changes whenever a schema can change. */
export function hashMigrationSources(repoDir: string): string {
  const services = readdirSync(join(repoDir, 'services')).map((name) => join(repoDir, 'services', name, 'migrations'));
  const libraries = [
    'infrastructure/orm',
    'infrastructure/jobs',
    'infrastructure/audit',
    'infrastructure/feed',
    'product/webhooks',
  ].map((name) => join(repoDir, 'libs', name));
  const hash = createHash('sha256');
  for (const dir of [...services, ...libraries].filter((path) => existsSync(path))) {
    for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted()) {
      const path = join(dir, file);
      if (statSync(path).isFile()) hash.update(file).update(readFileSync(path));
    }
  }
  return hash.digest('hex').slice(0, 16);
}
