/** Jest projects that only `npm run test:release` runs: long drills, and tests whose tools take minutes to build. */
export const releaseProjects = ['release', 'helm', 'load'];
