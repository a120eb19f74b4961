/** Projects of jest that `npm run test:release` runs and `npm test` leaves out: long drills, and what needs tools that take minutes to build. */
export const releaseProjects = ['release', 'helm', 'load'];
