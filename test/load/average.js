/**
 * Average: a usual day. RATE visits per second (default 10) for DURATION (default 10 minutes), after one minute of
 * warm-up.
 */
import { planCrowd, planScenarios, planThresholds, ratePerMinute, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const rate = Number(__ENV.RATE || 10);
const warmUp = __ENV.WARM_UP || '1m';
const duration = __ENV.DURATION || '10m';

export const options = {
  scenarios: planScenarios((persona) => {
    const target = ratePerMinute(persona, rate);
    return {
      executor: 'ramping-arrival-rate',
      startRate: 1,
      ...planCrowd(target),
      stages: [
        { target, duration: warmUp },
        { target, duration },
      ],
    };
  }),
  thresholds: planThresholds({ failed: 0.001 }),
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('average', data, { duration, visits_per_second: rate });
