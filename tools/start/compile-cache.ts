/**
 * Compiled code of the services, made once and before they start: six that start side by side would each strip and compile the same two thousand
 * files, and keep what that takes, 25 MB, as long as they run (docs/adr/services-share-compiled-code.md).
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pickBasics } from '../servers/process-environment.ts';
import { nodeOptionsOf } from '../servers/service-process.ts';
import { serviceNames } from './environment.ts';

/** @param cacheDir NODE_COMPILE_CACHE of the services. Fails never: what cannot be made here each service makes for itself. */
export async function warmCompileCache(repoDir: string, cacheDir: string): Promise<void> {
  const packages = createHash('sha256')
    .update(readFileSync(join(repoDir, 'package-lock.json')))
    .update(process.version);
  const mark = join(cacheDir, `services-${packages.digest('hex').slice(0, 16)}`);
  if (existsSync(mark)) return;
  // V8 takes no code that was compiled under other flags.
  const groups = Map.groupBy(serviceNames, (service) => nodeOptionsOf(service).join(' '));
  for (const services of groups.values()) {
    const args = [...nodeOptionsOf(services[0] ?? ''), join('tools', 'start', 'load-services.ts'), ...services];
    if (!(await run(args, { repoDir, cacheDir }))) return;
  }
  try {
    mkdirSync(cacheDir, { recursive: true });
    writeFileSync(mark, '');
  } catch {
    // on a full disk: the next start does it again
  }
}

function run(args: readonly string[], { repoDir, cacheDir }: { repoDir: string; cacheDir: string }): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd: repoDir, stdio: 'ignore', env: { ...pickBasics(), NODE_COMPILE_CACHE: cacheDir } });
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
