import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const commonStyle = join(import.meta.dirname, '..', 'pages.css');

/**
 * Content of a file of the pages. The common styles are prepended to style sheets, so that a page needs one request.
 */
export function readPageFile(path: string): Buffer {
  const own = readFileSync(path);
  return extname(path) === '.css' ? Buffer.concat([readFileSync(commonStyle), own]) : own;
}
