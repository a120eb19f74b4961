/**
 * Spike: RATE visits per second (default 10), PEAK times as many (default 10) for a minute, and RATE again. During the peak requests may be
 * refused (503 with Retry-After); afterwards everything must be as before.
 */
import { planScenarios, planThresholds, shares, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const peak = Number(__ENV.PEAK || 10);
const calm = Number(__ENV.CALM_SECONDS || 60);
const high = Number(__ENV.PEAK_SECONDS || 60);
/** Time to work off what waits, before the last part is measured. */
const rest = 20;

function part(phase, startSeconds, seconds, factor) {
  return planScenarios((persona) => {
    const perMinute = Math.max(1, Math.round((rate * factor * 60 * shares[persona]) / 100));
    return {
      executor: 'constant-arrival-rate',
      timeUnit: '1m',
      rate: perMinute,
      startTime: `${startSeconds}s`,
      duration: `${seconds}s`,
      preAllocatedVUs: 5,
      maxVUs: Math.max(10, perMinute),
    };
  }, phase);
}

export const options = {
  scenarios: { ...part('before', 0, calm, 1), ...part('peak', calm, high, peak), ...part('after', calm + high + rest, calm, 1) },
  thresholds: {
    ...planThresholds({ failed: 0.001, selector: 'phase:before' }),
    'http_req_failed{phase:peak}': ['rate<0.05'],
    ...planThresholds({ failed: 0.001, selector: 'phase:after' }),
  },
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('spike', data, { visits_per_second: rate, peak, calm_seconds: calm, peak_seconds: high });
