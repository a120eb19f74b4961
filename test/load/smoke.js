/** Smoke: does every persona get what it asks for? One of each, one after the other visit, DURATION long (default a minute). */
import { planScenarios, planThresholds, trendStats } from './plan.js';
import { summarize } from './summary.js';

export { apiClient, bookingProvider, messagingProvider, setup, uploader, visitor } from './personas.js';

const duration = __ENV.DURATION || '60s';

/** A platform admits 30 new chats per minute from one address unless it is told otherwise (RATE_LIMIT_CHAT_PER_MINUTE), and 60 messages. */
const visitsBelowTheLimit = { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1m', preAllocatedVUs: 10, duration };

export const options = {
  scenarios: planScenarios((persona) => (persona === 'visitor' ? visitsBelowTheLimit : { executor: 'constant-vus', vus: 1, duration })),
  // What is asked of a loaded machine of one's own: nothing fails, and nothing takes more than a multiple of its time.
  thresholds: planThresholds({ failed: 0, factor: Number(__ENV.SLACK || 4) }),
  summaryTrendStats: trendStats,
};

export const handleSummary = (data) => summarize('smoke', data, { duration, vus_per_persona: 1 });
