import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const commonStyle = join(import.meta.dirname, '..', 'pages.css');

/**
 * Returns the content of a file of the pages. Style sheets include the common styles, so that a page requests only one.
 */
export function readPageFile(path: string): Buffer {
  const own = readFileSync(path);
  return extname(path) === '.css' ? Buffer.concat([readFileSync(commonStyle), own]) : own;
}
