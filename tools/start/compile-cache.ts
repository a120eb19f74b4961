/**
 * Compiles the services once before they start. Otherwise each service would strip and compile the same two thousand
 * files and use 25 MB more memory (docs/performance-notes.md#shared-compile-cache-and-heap-flags).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pickBasics } from '../../libs/product/servers/process-environment.ts';
import { serviceNames } from './environment.ts';

const script = join(import.meta.dirname, 'load-services.ts');

/** Runs `compileServices` once for each cache and version of the packages. */
export async function warmCompileCache(
  repoDir: string,
  cacheDir: string,
  nodeOptions: readonly string[] = [],
): Promise<void> {
  const packages = createHash('sha256')
    .update(readFileSync(join(repoDir, 'package-lock.json')))
    .update([process.version, ...nodeOptions].join(' '));
  const mark = join(cacheDir, `services-${packages.digest('hex').slice(0, 16)}`);
  if (existsSync(mark)) return;
  if (!(await compileServices(repoDir, cacheDir, nodeOptions))) return;
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(mark, '');
  } catch {
    // The marker could not be written, e.g. because the disk is full. The next start compiles again.
  }
}

/**
 * Compiles the services.
 * @param dir folder that contains `services`
 * @param cacheDir NODE_COMPILE_CACHE of the services
 * @param nodeOptions Node options of the services, because V8 rejects code that was compiled with other flags, except
 * sizes of the young generation
 * @returns false on failure; each process then compiles its own code
 */
export function compileServices(dir: string, cacheDir: string, nodeOptions: readonly string[] = []): Promise<boolean> {
  const names = serviceNames.filter((name) => existsSync(join(dir, 'services', name)));
  const options = { cwd: dir, stdio: 'ignore', env: { ...pickBasics(), NODE_COMPILE_CACHE: cacheDir } } as const;
  const child = spawn(process.execPath, [...nodeOptions, script, ...names], options);
  const end = (): void => void child.kill();
  process.once('exit', end);
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => {
      process.off('exit', end);
      resolve(code === 0);
    });
  });
}
