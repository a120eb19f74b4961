/**
 * The two forms of a drill (`*.drill.test.ts`): `npm test` runs the smoke form (20 seconds at most), `npm run
 * test:release` the full form. Files named `*.release.test.ts` have no smoke form and run only in `npm run
 * test:release`.
 */
export const isRelease = process.env['TEST_RELEASE'] === 'true';

/** Returns the size for the form that runs: smoke or release. */
export function sized<Size>({ smoke, release }: { readonly smoke: Size; readonly release: Size }): Size {
  return isRelease ? release : smoke;
}

/** Returns all cases in a release run, otherwise every nth. */
export function sampled<Case>(cases: readonly Case[], { every }: { readonly every: number }): Case[] {
  return cases.filter((_case, index) => isRelease || index % every === 0);
}
