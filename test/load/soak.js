/** Soak: the average load for HOURS (default 4); leaks, growth and slowdowns show in the second half. */
import { planCrowd, planScenarios, planThresholds, ratePerMinute, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const hours = Number(__ENV.HOURS || 4);

function half(phase, startSeconds, seconds) {
  return planScenarios((persona) => {
    const perMinute = ratePerMinute(persona, rate);
    return {
      executor: 'constant-arrival-rate',
      rate: perMinute,
      ...planCrowd(perMinute),
      startTime: `${startSeconds}s`,
      duration: `${seconds}s`,
    };
  }, phase);
}

const seconds = Math.round((hours * 3600) / 2);

export const options = {
  scenarios: { ...half('first', 0, seconds), ...half('second', seconds, seconds) },
  thresholds: {
    ...planThresholds({ failed: 0.0005 }),
    ...planThresholds({ failed: 0.0005, phase: 'first' }),
    ...planThresholds({ failed: 0.0005, phase: 'second' }),
  },
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('soak', data, { hours, visits_per_second: rate });
