/**
 * Compiled code of the services, made once and before they start: six that start side by side would each strip and compile the same two thousand
 * files, and keep what that takes, 25 MB, as long as they run (docs/performance-notes.md#shared-compile-cache-and-heap-flags).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pickBasics } from '../../libs/servers/process-environment.ts';
import { serviceNames } from './environment.ts';

const script = join(import.meta.dirname, 'load-services.ts');

/** Once for a cache and these packages; see `compileServices`. */
export async function warmCompileCache(repoDir: string, cacheDir: string, nodeOptions: readonly string[] = []): Promise<void> {
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
    // on a full disk: the next start does it again
  }
}

/**
 * @param dir where `services` is
 * @param cacheDir NODE_COMPILE_CACHE of who loads them
 * @param nodeOptions theirs: V8 takes no code that was compiled under other flags; sizes of the young generation, which are all that services have, make no difference
 * @returns false when it could not be done: then each process compiles for itself.
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
