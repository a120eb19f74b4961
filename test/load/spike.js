/**
 * The spike suite sends RATE visits per second (default 10), then PEAK times as many (default 10) for a minute, then
 * RATE again. During the peak, requests other than webhooks may be rejected (503 with Retry-After). Afterwards the
 * platform must recover completely.
 */
import { planCrowd, planOverload, planScenarios, planThresholds, ratePerMinute, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const peak = Number(__ENV.PEAK || 10);
const calm = Number(__ENV.CALM_SECONDS || 60);
const high = Number(__ENV.PEAK_SECONDS || 60);
/** Seconds to process the backlog before the last part is measured. */
const rest = 20;

function part(phase, startSeconds, seconds, factor) {
  return planScenarios((persona) => {
    const perMinute = ratePerMinute(persona, rate * factor);
    return {
      executor: 'constant-arrival-rate',
      rate: perMinute,
      ...planCrowd(perMinute),
      startTime: `${startSeconds}s`,
      duration: `${seconds}s`,
    };
  }, phase);
}

export const options = {
  scenarios: {
    ...part('before', 0, calm, 1),
    ...part('peak', calm, high, peak),
    ...part('after', calm + high + rest, calm, 1),
  },
  thresholds: {
    ...planThresholds({ failed: 0.001, phase: 'before' }),
    ...planOverload({ phase: 'peak', factor: peak }),
    ...planThresholds({ failed: 0.001, phase: 'after' }),
  },
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) =>
  summarize('spike', data, { visits_per_second: rate, peak, calm_seconds: calm, peak_seconds: high });
