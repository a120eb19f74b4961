/**
 * Clients that use shared secrets during a rotation (K8). Each client reads the current value from `SECRETS_URL`, which
 * acts as a secret store, until the store reports the end. No request may be rejected. test/e2e/rotation.drill.test.ts
 * runs this file, provides the store and restarts the replicas.
 */
import { check, sleep } from 'k6';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import http from 'k6/http';

const {
  BASE_URL: baseUrl,
  SECRETS_URL: secretsUrl,
  CONVERSATION_ID: conversation,
  PERSON_ID: person,
  JOURNEY: journey,
} = __ENV;
const { EMAIL: email, PASSWORD: password } = __ENV;
/** Pause between two requests of a client; the test checks for rejections, not throughput. */
const thinkSeconds = 0.2;

/** Each client is one visit for the whole run. */
const clients = (name, vus) => ({ exec: name, vus, executor: 'per-vu-iterations', iterations: 1, maxDuration: '15m' });

export const options = {
  scenarios: { readers: clients('read', 3), bookers: clients('book', 1), logins: clients('logIn', 1) },
  thresholds: {
    'http_req_failed{secret:API_TOKEN}': ['rate==0'],
    'http_req_failed{secret:API_LOGIN_SECRET}': ['rate==0'],
    'http_req_failed{secret:BOOKING_WEBHOOK_SECRET}': ['rate==0'],
    checks: ['rate==1'],
  },
};

/** Fetches and uses the secret repeatedly. */
function useSecret(name, use) {
  for (let turn = 0; ; turn++) {
    const { value, done } = http.get(`${secretsUrl}?name=${name}`, { tags: { secret: 'store' } }).json();
    if (done) return;
    const answer = use(value, turn, { secret: name });
    check(answer, { 'is answered with 200': ({ status }) => status === 200 });
    if (answer.status !== 200) console.error(`${name}: ${answer.status} ${answer.error} ${answer.body}`);
    sleep(thinkSeconds);
  }
}

export function read() {
  useSecret('API_TOKEN', (token, _turn, tags) =>
    http.get(`${baseUrl}/api/coherence/conversations/${conversation}`, {
      headers: { authorization: `Bearer ${token}` },
      tags,
    }),
  );
}

export function logIn() {
  useSecret('API_LOGIN_SECRET', (key, _turn, tags) => {
    const headers = { 'content-type': 'application/json', 'x-svc-api-key': key };
    return http.post(`${baseUrl}/api/v1/auth/login`, JSON.stringify({ email, password }), { headers, tags });
  });
}

export function book() {
  const booker = exec.vu.idInTest;
  useSecret('BOOKING_WEBHOOK_SECRET', (secret, turn, tags) => {
    const startTime = new Date(Date.UTC(2031 + booker, 0, 1) + turn * 3_600_000).toISOString();
    const payload = {
      uid: `rotation-${booker}-${turn}`,
      title: 'Talk',
      startTime,
      metadata: { videoCallUrl: `https://meet.example.org/${journey}` },
    };
    const body = JSON.stringify({ triggerEvent: 'BOOKING_CREATED', payload });
    const headers = {
      'content-type': 'application/json',
      'x-cal-signature-256': crypto.hmac('sha256', secret, body, 'hex'),
    };
    return http.post(`${baseUrl}/api/coherence/hook/booking/${person}`, body, { headers, tags });
  });
}
