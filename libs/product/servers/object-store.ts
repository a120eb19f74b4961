/**
 * Starts the platform's object store: versitygw, or MinIO if the folder contains MinIO data or a test requests MinIO.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideGoTool } from './go-tool.ts';
import { minioTool, versitygwTool } from './go-tools.ts';
import { startMinio } from './minio.ts';
import type { ObjectStoreServer, ObjectStoreStart } from './object-store-server.ts';
import type { Progress } from './tool-cache.ts';
import { startVersitygw } from './versitygw.ts';

export type ObjectStoreKind = 'versitygw' | 'minio';

export interface ObjectStoreOptions extends Pick<
  ObjectStoreStart,
  'dataDir' | 'logFile' | 'port' | 'durable' | 'certificate'
> {
  kind?: ObjectStoreKind | undefined;
  /** Region of request signatures; default `us-east-1`. */
  region?: string | undefined;
  progress: Progress;
}

const kinds = {
  versitygw: { tool: versitygwTool, start: startVersitygw },
  minio: { tool: minioTool, start: startMinio },
} as const;

/**
 * Starts the object store.
 * @throws Error with a readable message when the program cannot be provided or does not start
 */
export async function startObjectStore({
  kind = 'versitygw',
  region = 'us-east-1',
  progress,
  ...options
}: ObjectStoreOptions): Promise<ObjectStoreServer> {
  const { tool, start } = kinds[kind];
  const program = await provideGoTool(tool, progress);
  mkdirSync(options.dataDir, { recursive: true });
  const secretAccessKey = readSecret(join(options.dataDir, 'secret'));
  return start({ ...options, program, region, accessKeyId: 'coherence', secretAccessKey });
}

/**
 * Returns the kind of object store in a variable; undefined when the variable is empty. @throws Error for an unknown
 * kind
 */
export function readObjectStoreKind(text: string | undefined): ObjectStoreKind | undefined {
  if (text === undefined || text === '') return undefined;
  if (text in kinds) return text as ObjectStoreKind;
  throw new Error(`"${text}" is not a supported object store; use one of ${Object.keys(kinds).join(', ')}`);
}

function readSecret(file: string): string {
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600 });
  return readFileSync(file, 'utf8');
}
