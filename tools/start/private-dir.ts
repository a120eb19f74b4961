/** The folder of `npm start`: databases, secrets, logs and what visitors wrote are for the account that runs it alone. */
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const ofOthers = 0o077;

/** Makes the folder, and takes from others what they may do in one that an earlier release left open to them. */
export function makePrivateDir(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  if ((lstatSync(dir).mode & ofOthers) === 0) return;
  closeContent(dir);
  chmodSync(dir, lstatSync(dir).mode & 0o700); // last: an interrupted work is done again
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
