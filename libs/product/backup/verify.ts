/** Reads a complete backup without the secret key and reports every file that differs from what was stored. */
import type { OnProgress } from './database.ts';
import { BackupError } from './errors.ts';
import { objectPath, tablePath } from './layout.ts';
import type { Manifest } from './manifest.ts';
import { listObjects } from './objects.ts';
import { type BackupTarget, checked } from './target.ts';

/** Number of problems after which verification of objects stops. */
const maxProblems = 100;

export interface Verification {
  readonly files: number;
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Verifies all files of a backup. @param options.manifest from `openBackup`, which has validated it */
export async function verifyBackup(options: {
  readonly target: BackupTarget;
  readonly manifest: Manifest;
  readonly withObjects: boolean;
  readonly onProgress: OnProgress;
}): Promise<Verification> {
  const { target, manifest, onProgress } = options;
  const problems: string[] = [];
  let files = 0;
  let bytes = 0;
  const check = async (what: string, path: string, expected: { bytes: number; sha256: string }): Promise<void> => {
    try {
      const body = await target.read(path);
      if (body === undefined) throw new BackupError(`${path} is missing`);
      for await (const chunk of checked(body, { path, ...expected })) {
        bytes += chunk.byteLength;
        onProgress(what, chunk.byteLength);
      }
      files += 1;
    } catch (error) {
      if (!(error instanceof BackupError)) throw error;
      problems.push(error.message);
    }
  };
  for (const [schema, { tables }] of Object.entries(manifest.schemas)) {
    for (const { name, stored_bytes: stored, sha256 } of tables) {
      await check(`${schema}.${name}`, tablePath(manifest, schema, name), { bytes: stored, sha256 });
    }
  }
  try {
    if (options.withObjects) {
      for await (const { key, stored_bytes: stored, sha256 } of listObjects(target, manifest)) {
        await check('objects', objectPath(manifest, key), { bytes: stored, sha256 });
        if (problems.length >= maxProblems) break;
      }
    }
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    problems.push(error.message); // an object list is damaged: its objects are unknown
  }
  return { files, bytes, problems };
}
