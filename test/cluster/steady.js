// k6: steady reads and writes of every service until it is stopped; not one request may fail. Run inside the cluster.
import http from 'k6/http';
import { check } from 'k6';

const { BASE_URL, API_TOKEN, SESSION_TOKEN, LISTENER_ID, CONVERSATION_ID, RATE } = __ENV;
const shared = { authorization: `Bearer ${API_TOKEN}` };
const own = { authorization: `Bearer ${SESSION_TOKEN}` };
const conversation = `${BASE_URL}/api/coherence/conversations/${CONVERSATION_ID}`;

export const options = {
  scenarios: {
    steady: {
      executor: 'constant-arrival-rate',
      rate: Number(RATE),
      timeUnit: '1s',
      duration: '20m',
      preAllocatedVUs: 20,
      maxVUs: 100,
    },
  },
  thresholds: { http_req_failed: ['rate==0'], checks: ['rate==1'] },
};

const requests = [
  ['directory', () => http.get(`${BASE_URL}/api/v1/people/${LISTENER_ID}`, { headers: own })],
  ['conversations', () => http.get(conversation, { headers: shared })],
  [
    'search',
    () => http.get(`${BASE_URL}/api/coherence/conversations/search?person_id=${LISTENER_ID}`, { headers: own }),
  ],
  ['media', () => http.get(`${conversation}/audio`, { headers: { ...shared, range: 'bytes=0-43' } })],
  ['transcripts', () => http.get(`${conversation}/transcript`, { headers: shared })],
  ['agents', () => http.get(`${BASE_URL}/api/agents/guide/`, { headers: shared })],
  ['write', createPerson],
];

function createPerson() {
  const email = `visitor-${Date.now()}-${__VU}-${__ITER}@example.org`;
  const body = JSON.stringify({ name: `Visitor ${__VU}`, contact: { email } });
  return http.post(`${BASE_URL}/api/v1/people`, body, { headers: { ...own, 'content-type': 'application/json' } });
}

export default function run() {
  const [name, send] = requests[__ITER % requests.length];
  const response = send();
  const isWell = response.status >= 200 && response.status < 300;
  check(response, { [name]: () => isWell });
  if (!isWell)
    console.error(`${String(name)}: ${response.status} ${response.error} ${String(response.body).slice(0, 200)}`);
}

export function handleSummary({ metrics }) {
  const { http_reqs: all, http_req_failed: failed, http_req_duration: duration, checks } = metrics;
  return {
    stdout: `SUMMARY ${JSON.stringify({
      requests: all?.values.count ?? 0,
      failed: Math.max(failed?.values.passes ?? 0, checks?.values.fails ?? 0),
      p95Ms: Math.round(duration?.values['p(95)'] ?? 0),
      maxMs: Math.round(duration?.values.max ?? 0),
    })}\n`,
  };
}
