/** An object store as a process, whichever program it is. */
import type { ServerProcess } from './server-process.ts';

export interface ObjectStoreServer extends ServerProcess {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What every kind is started with. */
export interface ObjectStoreStart {
  program: string;
  dataDir: string;
  logFile: string;
  port?: number;
  region: string;
  /** What was acknowledged survives a power cut, as far as the file system can be told so. */
  durable: boolean;
  /** Paths in PEM; with them it speaks HTTPS, on localhost. */
  certificate?: { readonly cert: string; readonly key: string } | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}
