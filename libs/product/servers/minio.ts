/**
 * Runs MinIO as the object store, on the loopback interface; only its S3 API is used. MinIO always syncs writes before
 * it acknowledges them.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStoreServer, ObjectStoreStart } from './object-store-server.ts';
import { findFreePort } from './ports.ts';
import { startServerProcess } from './server-process.ts';

export async function startMinio(options: ObjectStoreStart): Promise<ObjectStoreServer> {
  const drive = join(options.dataDir, 'drive');
  mkdirSync(drive, { recursive: true });
  const [port, consolePort] = [options.port ?? (await findFreePort()), await findFreePort()];
  const endpoint = `http://127.0.0.1:${port}`;
  const { accessKeyId, secretAccessKey } = options;
  const server = await startServerProcess({
    name: 'Object store',
    command: options.program,
    args: [
      'server',
      '--quiet',
      '--address',
      `127.0.0.1:${port}`,
      '--console-address',
      `127.0.0.1:${consolePort}`,
      drive,
    ],
    env: {
      MINIO_ROOT_USER: accessKeyId,
      MINIO_ROOT_PASSWORD: secretAccessKey,
      MINIO_REGION: options.region,
      MINIO_BROWSER: 'off',
      MINIO_UPDATE: 'off',
      MINIO_CALLHOME_ENABLE: 'off',
    },
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    isReady: async () => {
      const response = await fetch(`${endpoint}/minio/health/ready`).catch(() => undefined);
      await response?.body?.cancel();
      return response?.status === 200;
    },
  });
  return { ...server, endpoint, accessKeyId, secretAccessKey };
}
