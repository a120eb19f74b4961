/** `npm run --silent sbom > sbom.json`: writes the contents of a production install in CycloneDX. */
import { join } from 'node:path';
import { createSbom } from './sbom.ts';

process.stdout.write(`${JSON.stringify(createSbom(join(import.meta.dirname, '..', '..')), null, 2)}\n`);
