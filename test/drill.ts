/**
 * The two forms of a drill (`*.drill.test.ts`): `npm test` runs the smoke form, 20 seconds at most; `npm run test:release` runs it in full.
 * Files named `*.release.test.ts` have no smoke form of their own and run in `npm run test:release` alone.
 */
export const isRelease = process.env['TEST_RELEASE'] === 'true';

/** The size of this run. */
export function sized<Size>({ smoke, release }: { readonly smoke: Size; readonly release: Size }): Size {
  return isRelease ? release : smoke;
}

/** All cases in a release, else every nth of them. */
export function sampled<Case>(cases: readonly Case[], { every }: { readonly every: number }): Case[] {
  return cases.filter((_case, index) => isRelease || index % every === 0);
}
