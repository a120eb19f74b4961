/** Which release this is, as package.json says: of log lines, documents and `--version` (rules/operations#releases). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const packageFile = join(import.meta.dirname, '..', '..', 'package.json');

export const releaseVersion: string = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string }).version;
