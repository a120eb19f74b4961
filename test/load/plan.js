/** Scenarios and thresholds, shared by all suites. */
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

/** Percentage of visits per persona. */
const shares = { api_client: 55, booking_provider: 15, messaging_provider: 15, visitor: 10, uploader: 5 };

/**
 * Returns the k6 options for `perMinute` visits. There are enough virtual users for visits of ten seconds, and up to
 * half a minute if necessary. If the platform is slower, some visits cannot start.
 */
export function planCrowd(perMinute) {
  return {
    timeUnit: '1m',
    preAllocatedVUs: Math.max(5, Math.ceil(perMinute / 6)),
    maxVUs: Math.max(10, Math.ceil(perMinute / 2)),
  };
}

/** Returns the visits per minute of a persona, from `visitsPerSecond` of all personas. */
export function ratePerMinute(persona, visitsPerSecond) {
  return Math.max(1, Math.round((visitsPerSecond * 60 * shares[persona]) / 100));
}

/**
 * Returns one scenario per persona; `make` returns its k6 options. `phase` names the scenarios of one phase of the run.
 */
export function planScenarios(make, phase) {
  const scenarios = {};
  for (const persona of personas) {
    if (visits[persona] === undefined)
      throw new Error(`PERSONAS names "${persona}"; there are ${Object.keys(visits).join(', ')}`);
    const tags = { persona, ...(phase && { phase }) };
    scenarios[phase ? `${persona}-${phase}` : persona] = {
      exec: visits[persona],
      tags,
      gracefulStop: '60s',
      ...make(persona),
    };
  }
  return scenarios;
}

/** Multiplies the time limits of `operations.js`, for slow or shared machines. */
const slack = Number(__ENV.SLACK || 1);

/**
 * Returns the k6 thresholds: the share of failed requests and checks, all visits started, every persona took part and
 * did not hang, and the 95th percentile of every operation. `phase` limits the thresholds to one phase of the run.
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
 * Returns the k6 thresholds under overload, without time limits: rejections are 503 with Retry-After, webhooks are not
 * rejected, no request hangs, and at least `1 / factor` of the requests succeed.
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

/** Returns a function that names the sub-metric with these tags. */
function nameSelector(phase) {
  return (metric, ...tags) => {
    const all = [...tags, ...(phase === undefined ? [] : [`phase:${phase}`])];
    return all.length === 0 ? metric : `${metric}{${all.join(',')}}`;
  };
}

export const trendStats = ['count', 'avg', 'med', 'p(95)', 'p(99)', 'max'];
