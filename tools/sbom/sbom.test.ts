import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { createSbom, listProductionPackages, type Sbom } from './sbom.ts';

const repoDir = join(import.meta.dirname, '..', '..');

describe('npm run sbom', () => {
  let sbom: Sbom;
  beforeAll(() => void (sbom = createSbom(repoDir)));
  const refs = (): string[] => sbom.components.map((component) => component['bom-ref']);

  it('prints valid CycloneDX', async () => {
    expect(sbom.specVersion).toBe('1.5');
    await expect(
      new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(JSON.stringify(sbom)),
    ).resolves.toBeNull();
  });

  it('lists every production dependency of the lock file exactly once, and nothing else', () => {
    expect(refs().toSorted()).toEqual([...listProductionPackages(repoDir)].toSorted());
    // Includes packages that are used in production and in development, which `npm sbom --omit dev` would omit.
    expect(refs()).toEqual(expect.arrayContaining([expect.stringMatching(/^pg@/), expect.stringMatching(/^ajv@/)]));
    expect(refs().filter((ref) => /^(jest|oxlint|node)@/.test(ref))).toEqual([]);
  });

  it('contains hash and licence of each package, and the name of the product', () => {
    const incomplete = sbom.components.filter(
      ({ hashes, licenses }) => hashes[0]?.alg !== 'SHA-512' || (licenses ?? []).length === 0,
    );
    expect(incomplete.map((component) => component['bom-ref'])).toEqual([]);
    expect(sbom.metadata.component.name).toBe('coherence');
  });

  it('references only components that the document lists', () => {
    const known = new Set([...refs(), sbom.metadata.component['bom-ref']]);
    const used = sbom.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    expect(used.filter((ref) => !known.has(ref))).toEqual([]);
  });
});
