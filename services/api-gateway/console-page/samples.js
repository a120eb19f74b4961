/**
 * History of the overview since this tab was opened. The platform reports only its current state, so the page collects
 * the values.
 */

/**
 * @typedef {object} Sample
 * @property {number} at Unix time in seconds
 * @property {number} waiting queued and running
 * @property {number} dead
 * @property {number} done stored jobs that succeeded
 */

/** Six hours of one sample every ten seconds. */
const maxSamples = 2_160;
/** @type {Sample[]} */
const samples = [];

/** @typedef {import('../../../clients/typescript/operations.ts').GetOverviewResult} Overview */

/** @param {Overview} overview */
export function keepSample({ generated_at: at, jobs }) {
  const seconds = Math.round(Date.parse(at) / 1000);
  if (samples.length > 0 && seconds <= (samples.at(-1)?.at ?? 0)) return;
  /** @param {readonly string[]} states */
  const count = (...states) =>
    jobs.filter(({ state }) => states.includes(state)).reduce((sum, item) => sum + item.count, 0);
  samples.push({ at: seconds, waiting: count('queued', 'running'), dead: count('dead'), done: count('succeeded') });
  if (samples.length > maxSamples) samples.shift();
}

/** Returns columns for charts: times, queue depth, and jobs per minute that succeeded and died between two samples. */
export function readSamples() {
  const rates = samples.map((sample, index) => {
    const before = samples[index - 1];
    if (before === undefined) return { done: 0, died: 0 };
    const minutes = (sample.at - before.at) / 60;
    // A count can decrease, as old jobs are removed and dead jobs redriven. The rate is then 0.
    return {
      done: Math.max(0, sample.done - before.done) / minutes,
      died: Math.max(0, sample.dead - before.dead) / minutes,
    };
  });
  return {
    at: samples.map(({ at }) => at),
    waiting: samples.map(({ waiting }) => waiting),
    dead: samples.map(({ dead }) => dead),
    done: rates.map(({ done }) => done),
    died: rates.map(({ died }) => died),
  };
}
