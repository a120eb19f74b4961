/** Runs an object store as a process, of any kind. */
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
  /** Acknowledged writes survive a power failure, as far as the file system supports this. */
  durable: boolean;
  /** Paths in PEM; enables HTTPS on localhost. */
  certificate?: { readonly cert: string; readonly key: string } | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}
