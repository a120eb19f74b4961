/** Average: a usual day. RATE visits per second (default 10) for DURATION (default 10 minutes), after a minute of warming up. */
import { planScenarios, planThresholds, shares, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const warmUp = __ENV.WARM_UP || '1m';
const duration = __ENV.DURATION || '10m';

export const options = {
  scenarios: planScenarios((persona) => {
    const perMinute = Math.max(1, Math.round((rate * 60 * shares[persona]) / 100));
    return {
      executor: 'ramping-arrival-rate',
      timeUnit: '1m',
      startRate: 1,
      preAllocatedVUs: 5,
      maxVUs: Math.max(10, Math.ceil(perMinute / 2)),
      stages: [
        { target: perMinute, duration: warmUp },
        { target: perMinute, duration },
      ],
    };
  }),
  thresholds: { ...planThresholds({ failed: 0.001 }), dropped_iterations: ['count<1'] },
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('average', data, { duration, visits_per_second: rate });
