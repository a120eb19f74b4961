/** Files of the gateway's own pages as they are served. */
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const commonStyle = join(import.meta.dirname, '..', 'pages.css');

/** A style sheet begins with what all pages have in common, so that it is one request. */
export function readPageFile(path: string): Buffer {
  const own = readFileSync(path);
  return extname(path) === '.css' ? Buffer.concat([readFileSync(commonStyle), own]) : own;
}
