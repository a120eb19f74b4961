/** Soak: the average load for HOURS (default 4): what leaks, fills up or slows down shows in the second half. */
import { planScenarios, planThresholds, shares, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const hours = Number(__ENV.HOURS || 4);

function half(phase, startSeconds, seconds) {
  return planScenarios((persona) => {
    const perMinute = Math.max(1, Math.round((rate * 60 * shares[persona]) / 100));
    return {
      executor: 'constant-arrival-rate',
      timeUnit: '1m',
      rate: perMinute,
      startTime: `${startSeconds}s`,
      duration: `${seconds}s`,
      preAllocatedVUs: 5,
      maxVUs: Math.max(10, Math.ceil(perMinute / 2)),
    };
  }, phase);
}

const seconds = Math.round((hours * 3600) / 2);

export const options = {
  scenarios: { ...half('first', 0, seconds), ...half('second', seconds, seconds) },
  thresholds: {
    ...planThresholds({ failed: 0.0005 }),
    ...planThresholds({ failed: 0.0005, selector: 'phase:first' }),
    ...planThresholds({ failed: 0.0005, selector: 'phase:second' }),
  },
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('soak', data, { hours, visits_per_second: rate });
