/** Scenarios and thresholds: what every suite is made of. */
import { operations, operationsOf } from './operations.js';
import { personas } from './settings.js';

/** Function of each persona in personas.js. */
const visits = {
  api_client: 'apiClient',
  booking_provider: 'bookingProvider',
  messaging_provider: 'messagingProvider',
  visitor: 'visitor',
  uploader: 'uploader',
};

/** Visits of each persona in a hundred. */
export const shares = { api_client: 55, booking_provider: 15, messaging_provider: 15, visitor: 10, uploader: 5 };

/** One scenario for each persona; `make` gives the executor and its numbers. `phase` names the scenarios of a part of the run. */
export function planScenarios(make, phase) {
  const scenarios = {};
  for (const persona of personas) {
    if (visits[persona] === undefined) throw new Error(`PERSONAS names "${persona}"; there are ${Object.keys(visits).join(', ')}`);
    const tags = { persona, ...(phase && { phase }) };
    scenarios[phase ? `${persona}-${phase}` : persona] = { exec: visits[persona], tags, gracefulStop: '60s', ...make(persona) };
  }
  return scenarios;
}

/** Thresholds as code: share of failed requests and checks, and the 95th percentile of every operation times `slack`. */
export function planThresholds({ failed, slack = 1, selector = '' }) {
  const thresholds = {};
  const select = (tags) => (selector === '' ? tags : `${tags},${selector}`);
  thresholds[selector === '' ? 'http_req_failed' : `http_req_failed{${selector}}`] = [failed === 0 ? 'rate==0' : `rate<${failed}`];
  thresholds[selector === '' ? 'checks' : `checks{${selector}}`] = [failed === 0 ? 'rate==1' : `rate>${1 - failed}`];
  for (const persona of personas) {
    for (const operation of operationsOf[persona]) {
      thresholds[`http_req_duration{${select(`operation:${operation}`)}}`] = [`p(95)<${operations[operation] * slack}`];
    }
  }
  return thresholds;
}

export const trendStats = ['count', 'avg', 'med', 'p(95)', 'p(99)', 'max'];
