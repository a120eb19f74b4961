/** What the overview said since this tab was opened: the platform tells how it is, and this how it was. */

/**
 * @typedef {object} Sample
 * @property {number} at seconds since 1970
 * @property {number} waiting queued and running
 * @property {number} dead
 * @property {number} done succeeded ones that are kept
 */

/** Six hours of one in ten seconds. */
const maxSamples = 2_160;
/** @type {Sample[]} */
const samples = [];

/** @typedef {import('../../../clients/typescript/operations.ts').GetOverviewResult} Overview */

/** @param {Overview} overview */
export function keepSample({ generated_at: at, jobs }) {
  const seconds = Math.round(Date.parse(at) / 1000);
  if (samples.length > 0 && seconds <= (samples.at(-1)?.at ?? 0)) return;
  /** @param {readonly string[]} states */
  const count = (...states) => jobs.filter(({ state }) => states.includes(state)).reduce((sum, item) => sum + item.count, 0);
  samples.push({ at: seconds, waiting: count('queued', 'running'), dead: count('dead'), done: count('succeeded') });
  if (samples.length > maxSamples) samples.shift();
}

/** Columns for plots: instants, depth, and how many more were done and died a minute between two looks. */
export function readSamples() {
  const rates = samples.map((sample, index) => {
    const before = samples[index - 1];
    if (before === undefined) return { done: 0, died: 0 };
    const minutes = (sample.at - before.at) / 60;
    // Old ones are removed and dead ones redriven: fewer than before is none done.
    return { done: Math.max(0, sample.done - before.done) / minutes, died: Math.max(0, sample.dead - before.dead) / minutes };
  });
  return {
    at: samples.map(({ at }) => at),
    waiting: samples.map(({ waiting }) => waiting),
    dead: samples.map(({ dead }) => dead),
    done: rates.map(({ done }) => done),
    died: rates.map(({ died }) => died),
  };
}
