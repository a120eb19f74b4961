/**
 * The smoke suite checks that every persona gets the expected results: one client of each persona makes sequential
 * visits for DURATION (default one minute).
 */
import { planScenarios, planThresholds, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const duration = __ENV.DURATION || '60s';

/**
 * The visits per minute stay below the default limits: 30 new chats (RATE_LIMIT_CHAT_PER_MINUTE) and 60 messages per
 * minute from one address.
 */
const visitsBelowTheLimit = {
  executor: 'constant-arrival-rate',
  rate: 20,
  timeUnit: '1m',
  preAllocatedVUs: 10,
  duration,
};

export const options = {
  scenarios: planScenarios((persona) =>
    persona === 'visitor' ? visitsBelowTheLimit : { executor: 'constant-vus', vus: 1, duration },
  ),
  // For a loaded local machine: no request may fail, but each time limit is multiplied.
  thresholds: planThresholds({ failed: 0, factor: Number(__ENV.SLACK || 4) }),
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('smoke', data, { duration, vus_per_persona: 1 });
