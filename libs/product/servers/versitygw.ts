/**
 * Runs versitygw as the object store, on the loopback interface: buckets are folders, objects are files. S3 metadata is
 * stored in extended attributes of the file, or in separate files if the file system does not support attributes
 * (docs/adr/bundled-object-store.md).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStoreServer, ObjectStoreStart } from './object-store-server.ts';
import { findFreePort, isListening } from './ports.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';

/** Not a valid bucket name, so the path cannot be a bucket. */
const healthPath = '/_health';
const noAttributes = 'xattr check failed';

export async function startVersitygw(options: ObjectStoreStart): Promise<ObjectStoreServer> {
  const bucketsDir = join(options.dataDir, 'buckets');
  const sidecarDir = join(options.dataDir, 'attributes');
  mkdirSync(bucketsDir, { recursive: true });
  if (options.durable) makeSynchronous(bucketsDir);
  const port = options.port ?? (await findFreePort());
  const { accessKeyId, secretAccessKey } = options;
  const run = (): Promise<ServerProcess> => {
    const directory = existsSync(sidecarDir) ? ['--sidecar', sidecarDir, bucketsDir] : [bucketsDir];
    return runVersitygw(options, port, directory);
  };
  const server = await run().catch((error: Error) => {
    if (!error.message.includes(noAttributes) || readdirSync(bucketsDir).length > 0) throw error;
    mkdirSync(sidecarDir);
    if (options.durable) makeSynchronous(sidecarDir);
    return run();
  });
  const endpoint = options.certificate === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`;
  return { ...server, endpoint, accessKeyId, secretAccessKey };
}

function runVersitygw(options: ObjectStoreStart, port: number, directory: readonly string[]): Promise<ServerProcess> {
  const address = `127.0.0.1:${port}`;
  const { certificate } = options;
  const encryption = certificate === undefined ? [] : ['--cert', certificate.cert, '--key', certificate.key];
  return startServerProcess({
    name: 'Object store',
    command: options.program,
    args: [
      ...encryption,
      '--port',
      address,
      '--region',
      options.region,
      '--health',
      healthPath,
      '--quiet',
      '--keep-alive',
      'posix',
      ...directory,
    ],
    env: { ROOT_ACCESS_KEY_ID: options.accessKeyId, ROOT_SECRET_ACCESS_KEY: options.secretAccessKey },
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    isReady: async () => {
      if (certificate !== undefined) return isListening('127.0.0.1', port);
      const response = await fetch(`http://${address}${healthPath}`).catch(() => undefined);
      await response?.body?.cancel();
      return response?.status === 200;
    },
  });
}

/**
 * Sets flags that make the file system write synchronously (ext4, XFS and Btrfs on Linux); new files and folders
 * inherit them. versitygw itself does not sync writes. On other file systems, a power failure may lose the writes of
 * the last half minute.
 */
function makeSynchronous(dir: string): void {
  spawnSync('chattr', ['+S', '+D', dir], { stdio: 'ignore' });
}
