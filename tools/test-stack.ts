/**
 * `node tools/test-stack.ts`: runs the servers of the tests until Ctrl-C, so that test runs need not start them. Test
 * runs find the servers through `.data/test-stack.json`.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess } from '#libs/infrastructure/process-identity';
import { startTestServers } from '../libs/product/servers/test-servers.ts';

const repoDir = join(import.meta.dirname, '..');
const dataDir = join(repoDir, '.data', 'test-stack');
const addressFile = join(repoDir, '.data', 'test-stack.json');

rmSync(dataDir, { recursive: true, force: true });
mkdirSync(dataDir, { recursive: true });
const servers = await startTestServers({ repoDir, dataDir, progress: (line) => console.log(line) });
writeFileSync(
  addressFile,
  JSON.stringify({ holder: identifyProcess(process.pid), addresses: servers.addresses }, null, 2),
  {
    mode: 0o600,
  },
);
console.log(`The test servers are running (addresses: ${addressFile}). Stop them with Ctrl-C.`);

const stop = async (): Promise<void> => {
  rmSync(addressFile, { force: true });
  await servers.stop();
  process.exit(0);
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
setInterval(() => {}, 60_000);
