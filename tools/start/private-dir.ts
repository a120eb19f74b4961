/** Creates the data folder of `npm start`, which only its owner can access. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ofOthers = 0o077;

/**
 * Creates the folder, and restricts the permissions of an existing one.
 * @throws Error with the problem and the fix
 */
export function makePrivateDir(dir: string): void {
  try {
    makeDirs(dir);
    closeToOthers(dir);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(describeFolderProblem(dir, error as NodeJS.ErrnoException) ?? `${dir} cannot be used`, {
      cause: error,
    });
  }
}

/**
 * Creates one folder after the other: Node's recursive mkdir never ends where folders cannot be created, e.g. in
 * `/proc`.
 */
function makeDirs(dir: string): void {
  const missing: string[] = [];
  for (let path = dir; !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.toReversed()) mkdirSync(path, { mode: 0o700 });
}

function closeToOthers(dir: string): void {
  const stat = statSync(dir);
  if (!stat.isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR', path: dir });
  if ((stat.mode & ofOthers) === 0) return;
  closeContent(dir);
  chmodSync(dir, stat.mode & 0o700); // last, so that an interrupted change of permissions is repeated by the next start
}

function closeContent(dir: string): void {
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) continue;
    if (stat.isDirectory()) closeContent(path);
    if ((stat.mode & ofOthers) !== 0) chmodSync(path, stat.mode & 0o700);
  }
}

/** Returns an explanation of a file system error; returns undefined for other errors. */
export function describeFolderProblem(dir: string, { code, path = dir }: NodeJS.ErrnoException): string | undefined {
  const another = 'Choose another folder: COHERENCE_DATA_DIR=/a/folder/of/yours npm start';
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk of ${dir} is full. Free some space and start again (the data is kept), or choose a folder on another disk with COHERENCE_DATA_DIR.`;
    case 'EROFS':
      return `${path} is on a read-only file system. ${another}`;
    case 'EACCES':
    case 'EPERM':
      return isOfAnother(path)
        ? `${path} belongs to another user. Start as that user, or choose another folder with COHERENCE_DATA_DIR.`
        : `${path} is not writable by this user. ${another}`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${existsSync(path) ? path : dirname(path)} exists and is not a folder. ${another}`;
    case 'ENOENT':
    case 'EINVAL':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return `${path} cannot be created there. ${another}`;
    default:
      return undefined;
  }
}

function isOfAnother(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && process.getuid !== undefined && stat.uid !== process.getuid();
}
