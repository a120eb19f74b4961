/** User personas of the platform. Each function is one visit; the suite sets the rate. */
import { check, sleep } from 'k6';
import crypto from 'k6/crypto';
import exec from 'k6/execution';
import http from 'k6/http';
import { Rate } from 'k6/metrics';
import { operationsOf, patienceMs } from './operations.js';
import { apiToken, baseUrl, bookingSecret, loginSecret, seed, uploadBytes } from './settings.js';

/** Responses that are neither the expected result nor a valid rejection (503 with Retry-After). */
const wrongAnswers = new Rate('wrong_answers');
const patienceOf = Object.fromEntries(
  Object.entries(operationsOf).flatMap(([persona, names]) => names.map((name) => [name, patienceMs[persona]])),
);

/** Logs in all personas before the load. k6 passes the returned value to every visit. */
export function setup() {
  return { people: seed.people.map(({ id, email, password }) => ({ id, token: logIn(email, password) })) };
}

/** Logins per address are rate-limited; after another suite this waits for up to a minute. */
function logIn(email, password) {
  for (;;) {
    const login = http.post(`${baseUrl}/api/v1/auth/login`, JSON.stringify({ email, password }), {
      headers: { 'Content-Type': 'application/json', 'X-Svc-Api-Key': loginSecret },
      responseCallback: http.expectedStatuses(200, 429),
    });
    if (login.status === 200) return login.json('token');
    if (login.status !== 429) exec.test.abort(`the login of ${email} was answered with ${login.status} ${login.body}`);
    sleep(Number(login.headers['Retry-After']));
  }
}

export function apiClient({ people }) {
  const person = personOf(people);
  const found = request(
    'find or create',
    'GET',
    `/api/coherence/conversations?person_id=${person.id}&journey=${seed.journey}&time=${ownTime()}`,
    {
      body: ([conversation]) => conversation !== undefined,
    },
  );
  if (found[0] === undefined) return think(); // The failed request has been counted, and the visit ends.
  const { id } = found[0];
  const path = `/api/coherence/conversations/${id}`;
  request('read conversation', 'GET', path, { body: (conversation) => conversation.id === id });
  request('read steps', 'GET', `/api/coherence/journeys/${seed.journey}/steps`, { token: person.token });
  const turn = exec.scenario.iterationInTest;
  request('patch conversation', 'PATCH', path, { json: { infos: { turn } }, body: ({ infos }) => infos.turn === turn });
  request('search', 'GET', `/api/coherence/conversations/search?person_id=${person.id}&limit=20`, {
    token: person.token,
  });
  request('whoami', 'GET', '/api/v1/auth/whoami', { token: person.token });
  think();
}

export function bookingProvider({ people }) {
  const person = personOf(people);
  const turn = exec.scenario.iterationInTest;
  const start = toTime(Date.UTC(2100, 0, 1) + (turn + phaseMinutes()) * 60_000);
  const uid = `${seed.prefix}-${exec.scenario.name}-${turn}`;
  const body = JSON.stringify({
    triggerEvent: 'BOOKING_CREATED',
    createdAt: new Date().toISOString(),
    payload: {
      uid,
      type: 'load',
      title: `Booking ${turn}`,
      status: 'ACCEPTED',
      startTime: start,
      endTime: new Date(Date.parse(start) + 1_800_000).toISOString(),
      attendees: [
        {
          name: `Guest ${turn % 100}`,
          email: `guest-${turn % 100}@${seed.prefix}.example.org`,
          timeZone: 'Europe/Paris',
        },
      ],
      metadata: { videoCallUrl: `https://meet.example.org/${seed.journey}` },
      iCalUID: `${uid}@load`,
    },
  });
  const headers =
    bookingSecret === '' ? {} : { 'X-Cal-Signature-256': crypto.hmac('sha256', bookingSecret, body, 'hex') };
  request('booking webhook', 'POST', `/api/coherence/hook/booking/${person.id}`, { text: body, token: null, headers });
  think();
}

/** Sends updates that cause no reply, to measure the intake and processing of updates without the Bot API. */
export function messagingProvider() {
  const turn = exec.scenario.iterationInTest;
  const chat = { id: 1_000 + (turn % 500), type: 'private' };
  const sender = { id: chat.id, is_bot: false, first_name: 'Load' };
  const update = {
    update_id: seed.firstUpdate + turn + phaseMinutes(),
    edited_message: {
      message_id: turn + 1,
      date: Math.floor(Date.now() / 1000),
      chat,
      from: sender,
      text: `edited ${turn}`,
    },
  };
  request('agent update', 'POST', `/api/hook/agents/${seed.agent}`, {
    json: update,
    token: null,
    headers: { 'X-Telegram-Bot-Api-Secret-Token': seed.webhookSecret },
  });
  think();
}

export function visitor() {
  request('chat page', 'GET', `/chat/${seed.agent}`, { token: null });
  let visitorId;
  for (let turn = 0; turn < 2; turn += 1) {
    const json = {
      body: `Hello, this is message ${turn} of visit ${exec.scenario.iterationInTest}.`,
      ...(visitorId && { visitor_id: visitorId }),
    };
    const answer = request('chat message', 'POST', `/api/chat/${seed.agent}/message/`, {
      json,
      token: null,
      body: (reply) => reply.agent_html !== '',
    });
    visitorId = answer.visitor_id;
    think();
  }
}

export function uploader({ people }) {
  const person = personOf(people);
  const found = request(
    'find or create',
    'GET',
    `/api/coherence/conversations?person_id=${person.id}&journey=${seed.journey}&time=${ownTime()}`,
  );
  if (found[0] === undefined) return think(); // The failed request has been counted, and the visit ends.
  const { id } = found[0];
  const path = `/api/coherence/conversations/${id}/audio`;
  const form = {
    audio: http.file(randomBytes(uploadBytes), `talk-${exec.scenario.iterationInTest}.mp3`, 'audio/mpeg'),
  };
  const isWhole = (audio) => audio.size_bytes === uploadBytes;
  const audio = request('upload', 'POST', path, { form, token: person.token, status: 201, body: isWhole });
  if (isWhole(audio)) request('download', 'GET', path, { token: person.token, length: uploadBytes });
  think();
}

/** Sends and checks one request. Returns the body as JSON, or an empty object. */
function request(
  operation,
  method,
  path,
  { json, text, form, token = apiToken, headers = {}, status = 200, body, length } = {},
) {
  const payload = form || (json === undefined ? text : JSON.stringify(json)) || null;
  const response = http.request(method, `${baseUrl}${path}`, payload, {
    headers: {
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      ...(form || payload === null ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    tags: { operation, name: operation },
    responseType: length === undefined ? 'text' : 'binary',
    timeout: patienceOf[operation],
  });
  let parsed = {};
  if (
    response.status === status &&
    length === undefined &&
    String(response.headers['Content-Type']).startsWith('application/json')
  ) {
    parsed = response.json();
  }
  check(
    response,
    {
      [`${operation}: status`]: () => response.status === status,
      ...(body && { [`${operation}: body`]: () => response.status === status && body(parsed) }),
      ...(length !== undefined && {
        [`${operation}: length`]: () => response.body !== null && response.body.byteLength === length,
      }),
    },
    { operation },
  );
  if (response.status === 429) {
    exec.test.abort(
      `${operation} was answered with 429: the platform limits what comes from one address. Start it with RATE_LIMIT_CHAT_PER_MINUTE=0 RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE=0 for the run.`,
    );
  }
  const isRefusal = response.status === 503 && response.headers['Retry-After'] !== undefined;
  wrongAnswers.add(response.status !== status && !isRefusal);
  if (response.status !== status && __ENV.SHOW_FAILURES)
    console.error(`${operation}: ${response.status} ${response.error} ${response.body}`);
  return parsed;
}

function personOf(people) {
  return people[exec.scenario.iterationInTest % people.length];
}

/**
 * Returns a time that no other visit of this run uses, earlier than all previous ones. A conversation without an end
 * matches every later time, so each visit needs an earlier time to create a new conversation.
 */
function ownTime() {
  const offset = exec.scenario.name.startsWith('uploader') ? 1 : 0;
  return toTime(Date.UTC(2040, 0, 1) - (exec.scenario.iterationInTest * 2 + offset + phaseMinutes()) * 60_000);
}

/**
 * Returns an offset for each phase, because visit counts restart in each scenario, and a suite may have several
 * scenarios per persona.
 */
function phaseMinutes() {
  const phases = ['before', 'first', 'peak', 'second', 'after'];
  return Math.max(0, phases.indexOf(exec.scenario.name.split('-')[1])) * 1_000_000;
}

function toTime(milliseconds) {
  return new Date(milliseconds).toISOString().replace('.000', '');
}

function randomBytes(size) {
  const bytes = new Uint8Array(size);
  for (let index = 0; index < 64; index += 1) bytes[(index * 4_099) % size] = Math.floor(Math.random() * 256);
  return bytes.buffer;
}

function think() {
  sleep(0.2 + Math.random() * 0.3);
}
