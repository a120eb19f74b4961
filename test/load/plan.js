/** Scenarios and thresholds: what every suite is made of. */
import { operations, operationsOf, patienceMs } from './operations.js';
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
const shares = { api_client: 55, booking_provider: 15, messaging_provider: 15, visitor: 10, uploader: 5 };

/**
 * Executor for `perMinute` visits: there are people enough for visits that last ten seconds, and more come when visits last half a minute. A
 * platform that keeps them longer has visits that could not be started.
 */
export function planCrowd(perMinute) {
  return { timeUnit: '1m', preAllocatedVUs: Math.max(5, Math.ceil(perMinute / 6)), maxVUs: Math.max(10, Math.ceil(perMinute / 2)) };
}

/** Visits of a persona per minute, of `visitsPerSecond` of all of them. */
export function ratePerMinute(persona, visitsPerSecond) {
  return Math.max(1, Math.round((visitsPerSecond * 60 * shares[persona]) / 100));
}

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

/** Multiplies the times of `operations.js`, for machines that are slow or shared. */
const slack = Number(__ENV.SLACK || 1);

/**
 * Thresholds as code: share of failed requests and checks, that every visit could be made, that every persona took part
 * and none was left hanging, and the 95th percentile
 * of every operation. `phase` judges one part of the run.
 */
export function planThresholds({ failed, phase, factor = slack }) {
  const select = nameSelector(phase);
  const most = failed === 0 ? 'rate==0' : `rate<${failed}`;
  const thresholds = {
    [select('http_req_failed')]: [most],
    [select('checks')]: [failed === 0 ? 'rate==1' : `rate>${1 - failed}`],
    [select('dropped_iterations')]: ['count<1'],
  };
  for (const persona of personas) {
    Object.assign(thresholds, planPersona(persona, most, phase));
    for (const operation of operationsOf[persona]) {
      thresholds[select('http_req_duration', `operation:${operation}`)] = [`p(95)<${operations[operation] * factor}`];
    }
  }
  return thresholds;
}

/**
 * Under more load than a platform may be built for: no machine is asked for a time. What is refused is refused by 503 with Retry-After,
 * webhooks are not refused, nothing hangs, and as much work is done as under `1 / factor` of the load.
 */
export function planOverload({ phase, factor }) {
  const select = nameSelector(phase);
  const thresholds = {
    [select('wrong_answers')]: ['rate<0.001'],
    [select('http_req_failed')]: [`rate<${1 - 1 / factor}`],
  };
  for (const persona of personas) {
    Object.assign(thresholds, planPersona(persona, persona.endsWith('_provider') ? 'rate<0.001' : 'rate<=1', phase));
  }
  return thresholds;
}

function planPersona(persona, failed, phase) {
  const select = nameSelector(phase);
  const tag = `persona:${persona}`;
  return {
    [select('http_reqs', tag)]: ['count>0'],
    [select('http_req_failed', tag)]: [failed],
    [select('http_req_duration', tag)]: [`max<${patienceMs[persona]}`],
  };
}

/** Name of a metric, of the part of it that has these tags. */
function nameSelector(phase) {
  return (metric, ...tags) => {
    const all = [...tags, ...(phase === undefined ? [] : [`phase:${phase}`])];
    return all.length === 0 ? metric : `${metric}{${all.join(',')}}`;
  };
}

export const trendStats = ['count', 'avg', 'med', 'p(95)', 'p(99)', 'max'];
