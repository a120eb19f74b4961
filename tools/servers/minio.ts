/** MinIO as the object store, on the loopback interface; nothing but its S3 API is used. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from './ports.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';

export interface MinioServer extends ServerProcess {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const accessKeyId = 'coherence';

export async function startMinio(options: {
  program: string;
  dataDir: string;
  logFile: string;
  bucket: string;
  port?: number;
}): Promise<MinioServer> {
  const drive = join(options.dataDir, 'drive');
  mkdirSync(join(drive, options.bucket), { recursive: true }); // a bucket is a folder of the drive
  const [port, consolePort] = [options.port ?? (await findFreePort()), await findFreePort()];
  const secretAccessKey = readSecret(join(options.dataDir, 'secret'));
  const endpoint = `http://127.0.0.1:${port}`;
  const server = await startServerProcess({
    name: 'MinIO',
    command: options.program,
    args: ['server', '--quiet', '--address', `127.0.0.1:${port}`, '--console-address', `127.0.0.1:${consolePort}`, drive],
    env: {
      MINIO_ROOT_USER: accessKeyId,
      MINIO_ROOT_PASSWORD: secretAccessKey,
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

function readSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
