/**
 * Runs before all tests. Starts the servers and creates a database with the schema of every service, which each test
 * file clones.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRunning, type ProcessIdentity } from '#libs/infrastructure/process-identity';
import { startTestServers, type TestServers } from '../../libs/product/servers/test-servers.ts';
import { warmCompileCache } from '../../tools/start/compile-cache.ts';
import { makeRunDir } from './data-root.ts';
import { prepareTemplateDatabase } from './template-database.ts';

const repoDir = join(import.meta.dirname, '..', '..');

export default async function setUp(): Promise<void> {
  const dataDir = makeRunDir(repoDir);
  const given = { ...readRunningStack(), ...process.env };
  const cacheDir = (process.env['NODE_COMPILE_CACHE'] ??= join(repoDir, '.data', 'compile-cache')); // Services and the CLI start hundreds of times, so their compiled code is cached.
  const warmed = Promise.all([[], process.execArgv].map((options) => warmCompileCache(repoDir, cacheDir, options))); // The cache is filled for child processes and for test workers, which have different options.
  const servers = await startTestServers({ repoDir, dataDir, given, progress: (line) => console.error(line) });
  (globalThis as { coherenceTestServers?: TestServers }).coherenceTestServers = servers;
  Object.assign(process.env, servers.addresses);
  try {
    process.env['TEST_TEMPLATE_DATABASE'] = await prepareTemplateDatabase(repoDir, servers.addresses);
    await warmed;
  } catch (error) {
    await tearDown();
    throw error;
  }
}

export async function tearDown(): Promise<void> {
  await (globalThis as { coherenceTestServers?: TestServers }).coherenceTestServers?.stop();
}

/** Returns the addresses of the servers that `tools/test-stack.ts` started; empty when it does not run. */
function readRunningStack(): Record<string, string> {
  const file = join(repoDir, '.data', 'test-stack.json');
  if (!existsSync(file)) return {};
  const stack = JSON.parse(readFileSync(file, 'utf8')) as {
    holder: ProcessIdentity;
    addresses: Record<string, string>;
  };
  if (!isRunning(stack.holder)) return {};
  // If an object store was requested explicitly, it is used instead of the running one.
  const isOther = process.env['TEST_OBJECT_STORE'] !== undefined;
  return Object.fromEntries(
    Object.entries(stack.addresses).filter(([name]) => !(isOther && name.startsWith('TEST_S3_'))),
  );
}
