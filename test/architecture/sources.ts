/** Reads the source files of the repository as text. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SourceFile {
  /** Relative to the repository, with `/`. */
  path: string;
  text: string;
}

export const repoDir = join(import.meta.dirname, '..', '..');

/** Returns all TypeScript files in these folders. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(repoDir, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => ({ path: `${folder}/${name}`, text: readFileSync(join(repoDir, folder, name), 'utf8') })),
  );
}
