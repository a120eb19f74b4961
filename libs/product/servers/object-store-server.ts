/** Runs an object store of any kind (versitygw or MinIO) as a process. */
import type { ServerProcess } from './server-process.ts';

export interface ObjectStoreServer extends ServerProcess {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Options of every kind of object store. */
export interface ObjectStoreStart {
  program: string;
  dataDir: string;
  logFile: string;
  port?: number;
  region: string;
  /** Whether acknowledged writes must survive a power failure, as far as the file system supports this. */
  durable: boolean;
  /** Paths of PEM files; with them, the store uses HTTPS on localhost. */
  certificate?: { readonly cert: string; readonly key: string } | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}
