/**
 * Smoke: does every persona get the expected results? One of each, sequential visits, DURATION long (default one
 * minute).
 */
import { planScenarios, planThresholds, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const duration = __ENV.DURATION || '60s';

/**
 * By default, a platform admits 30 new chats (RATE_LIMIT_CHAT_PER_MINUTE) and 60 messages per minute from one address.
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
  // For a loaded local machine: no failures, and a multiple of each time limit.
  thresholds: planThresholds({ failed: 0, factor: Number(__ENV.SLACK || 4) }),
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('smoke', data, { duration, vus_per_persona: 1 });
