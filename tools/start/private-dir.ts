/** The folder of `npm start`: databases, secrets, logs and what visitors wrote are for the account that runs it alone. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ofOthers = 0o077;

/**
 * Makes the folder, and takes from others what they may do in one that an earlier release left open to them.
 * @throws Error that says what is wrong with it and what to do
 */
export function makePrivateDir(dir: string): void {
  try {
    makeDirs(dir);
    closeToOthers(dir);
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(describeFolderProblem(dir, error as NodeJS.ErrnoException) ?? `${dir} cannot be used`, { cause: error });
  }
}

/** Folder by folder: where none can be made although the one above is there, as in `/proc`, Node's own way never ends. */
function makeDirs(dir: string): void {
  const missing: string[] = [];
  for (let path = dir; !existsSync(path); path = dirname(path)) missing.push(path);
  for (const path of missing.toReversed()) mkdirSync(path, { mode: 0o700 });
}

function closeToOthers(dir: string): void {
  const stat = statSync(dir);
  if (!stat.isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR', path: dir });
  if ((stat.mode & ofOthers) === 0) return;
  closeContent(dir);
  chmodSync(dir, stat.mode & 0o700); // last: an interrupted work is done again
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

/** What an error of the file system means for the folder of the platform; undefined when it is no such error. */
export function describeFolderProblem(dir: string, { code, path = dir }: NodeJS.ErrnoException): string | undefined {
  const another = 'Choose another folder: COHERENCE_DATA_DIR=/a/folder/of/yours npm start';
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `The disk of ${dir} is full. Make room and start again, the data are kept; or choose a folder on another disk with COHERENCE_DATA_DIR.`;
    case 'EROFS':
      return `${path} is on a file system that cannot be written. ${another}`;
    case 'EACCES':
    case 'EPERM':
      return isOfAnother(path)
        ? `${path} belongs to another account. Start as that one, or choose another folder with COHERENCE_DATA_DIR.`
        : `This account may not write ${path}. ${another}`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${existsSync(path) ? path : dirname(path)} is there and is no folder. ${another}`;
    case 'ENOENT':
    case 'EINVAL':
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return `${path} cannot be made: no folder can be there. ${another}`;
    default:
      return undefined;
  }
}

function isOfAnother(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && process.getuid !== undefined && stat.uid !== process.getuid();
}
