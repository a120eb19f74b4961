/** `npm run client`: builds the package of the TypeScript client. */
import { join, relative } from 'node:path';
import { packClient } from './pack.ts';

const repoDir = join(import.meta.dirname, '..', '..');
const tarball = await packClient(join(repoDir, '.data', 'client'));
console.log(`Built ${relative(repoDir, tarball)}. Use it elsewhere with: npm install ${tarball}`);
