/**
 * A client that records acknowledged writes and later verifies them: `node ledger.mjs prepare|write|verify`. Runs
 * inside the cluster without npm packages. `write` runs until SIGTERM. A failed request counts as not acknowledged,
 * even if it had an effect.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const { BASE_URL, API_TOKEN, API_LOGIN_SECRET, BOOKING_WEBHOOK_SECRET, DEMO_PASSWORD } = process.env;
const file = '/tmp/ledger.json';
const writers = 3;
const journey = 'open-circle';
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function ask(method, path, { token = API_TOKEN, headers = {}, json, form, expect }) {
  const response = await fetch(BASE_URL + path, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(json === undefined ? (form === undefined ? {} : { body: form }) : { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(20_000),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== expect)
    throw new Error(`${method} ${path}: ${response.status} ${bytes.toString().slice(0, 200)}`);
  return { bytes, json: () => JSON.parse(bytes.toString()) };
}

/**
 * Logs in the people of the demo workspace; the newest conversation of the first has a transcript and audio from the
 * demo.
 */
async function prepare() {
  const logIn = async (email) =>
    (
      await ask('POST', '/api/v1/auth/login', {
        token: null,
        headers: { 'x-svc-api-key': API_LOGIN_SECRET },
        json: { email, password: DEMO_PASSWORD },
        expect: 200,
      })
    ).json();
  const ada = await logIn('ada@example.org');
  const { person } = (await ask('GET', '/api/v1/auth/whoami', { token: ada.token, expect: 200 })).json();
  const { token } = await logIn('admin@example.org');
  const found = (
    await ask('GET', `/api/coherence/conversations/search?person_id=${person.id}`, { token, expect: 200 })
  ).json();
  for (const { id } of found) {
    const transcript = await ask('GET', `/api/coherence/conversations/${id}/transcript`, { expect: 200 }).catch(
      () => undefined,
    );
    const audio = await ask('GET', `/api/coherence/conversations/${id}/audio`, { expect: 200 }).catch(() => undefined);
    if (transcript === undefined || audio === undefined) continue;
    const { participants } = (await ask('GET', `/api/coherence/conversations/${id}`, { expect: 200 })).json();
    // The booking person gets more and more conversations, so the load searches the conversations of another person.
    const listenerId = participants.find(({ name }) => name === 'Chiara Rossi').id;
    return { personId: person.id, listenerId, conversationId: id, sessionToken: token };
  }
  throw new Error(`none of ${found.length} conversations has a transcript and an audio`);
}

async function write({ personId, conversationId, sessionToken }) {
  const ledger = {
    personId,
    conversationId,
    sessionToken,
    people: [],
    bookings: [],
    audio: [],
    attempts: 0,
    refused: 0,
  };
  const stop = new AbortController();
  process.once('SIGTERM', () => stop.abort());
  const firstSlotMs = Date.UTC(2031, 0, 1) + Math.floor(Math.random() * 3_000) * 86_400_000;
  const steps = [
    async () => {
      const name = `Kept ${randomBytes(6).toString('hex')}`;
      const { json } = await ask('POST', '/api/v1/people', { token: sessionToken, json: { name }, expect: 201 });
      ledger.people.push({ id: json().person?.id ?? json().id, name });
    },
    async (number) => {
      const uid = randomBytes(12).toString('base64url');
      const startTime = new Date(firstSlotMs + number * 7_200_000).toISOString();
      const endTime = new Date(firstSlotMs + number * 7_200_000 + 3_600_000).toISOString();
      const person = {
        name: 'Ada Okafor',
        email: 'ada@example.org',
        timeZone: 'Europe/Berlin',
        language: { locale: 'en' },
      };
      const payload = {
        uid,
        bookingId: number,
        type: 'open-circle-60',
        title: 'Open circle',
        status: 'ACCEPTED',
        startTime,
        endTime,
        organizer: { id: 3, username: 'ada', ...person },
        attendees: [{ ...person, name: 'Ben Hartmann', email: 'ben@example.org' }],
        metadata: { videoCallUrl: `https://meet.example.org/${journey}/spring` },
      };
      const json = { triggerEvent: 'BOOKING_CREATED', createdAt: new Date().toISOString(), payload };
      const signature = createHmac('sha256', BOOKING_WEBHOOK_SECRET).update(JSON.stringify(json)).digest('hex');
      const headers = { 'x-cal-signature-256': signature };
      await ask('POST', `/api/coherence/hook/booking/${personId}`, { token: null, headers, json, expect: 200 });
      ledger.bookings.push({ uid, startTime });
    },
  ];
  const upload = async () => {
    const bytes = makeWav();
    const attempt = { sha256: sha256(bytes), acknowledged: false };
    ledger.audio.push(attempt);
    const form = new FormData();
    form.append('audio', new Blob([bytes]), 'kept.wav');
    await ask('POST', `/api/coherence/conversations/${conversationId}/audio`, {
      token: sessionToken,
      form,
      expect: 201,
    });
    attempt.acknowledged = true;
  };
  let number = 0;
  const work = async (list) => {
    while (!stop.signal.aborted) {
      number += 1;
      ledger.attempts += 1;
      await list[number % list.length](number).catch(() => (ledger.refused += 1));
      await sleep(40);
    }
  };
  await Promise.all([work([upload]), ...Array.from({ length: writers }, () => work(steps))]);
  writeFileSync(file, JSON.stringify(ledger));
  const uploads = ledger.audio.filter(({ acknowledged }) => acknowledged).length;
  return {
    attempts: ledger.attempts,
    refused: ledger.refused,
    people: ledger.people.length,
    bookings: ledger.bookings.length,
    uploads,
  };
}

/** Returns a short, unique sound file. */
function makeWav() {
  const samples = randomBytes(32_000);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}

/** Verifies that all acknowledged writes exist and that no write was applied twice. */
async function verify() {
  const { personId, conversationId, sessionToken, people, bookings, audio } = JSON.parse(readFileSync(file, 'utf8'));
  const problems = [];
  for (const { id, name } of people) {
    const found = await until(
      () => ask('GET', `/api/v1/people/${id}`, { token: sessionToken, expect: 200 }),
      60_000,
    ).catch((error) => error);
    if (found instanceof Error || found.json().name !== name)
      problems.push(`person ${id} (${name}) is lost: ${found.message ?? ''}`);
  }
  for (const { uid, startTime } of bookings) {
    const query = new URLSearchParams({ person_id: String(personId), journey, time: startTime });
    const count = async () => {
      const list = (await ask('GET', `/api/coherence/conversations?${query}`, { expect: 200 })).json();
      const made = list.filter(({ config }) => config.booking?.uid === uid).length;
      if (made === 0) throw new Error('not there yet');
      return made;
    };
    const made = await until(count, 90_000).catch(() => 0);
    if (made !== 1) problems.push(`booking ${uid} at ${startTime} made ${made} conversations`);
  }
  const lastKept = audio.findLastIndex(({ acknowledged }) => acknowledged);
  const possible = audio.slice(Math.max(lastKept, 0)).map((attempt) => attempt.sha256);
  const { bytes } = await until(
    () => ask('GET', `/api/coherence/conversations/${conversationId}/audio`, { expect: 200 }),
    60_000,
  );
  if (!possible.includes(sha256(bytes))) problems.push('the audio is neither the last acknowledged nor a later one');
  return { checked: people.length + bookings.length + 1, problems };
}

async function until(attempt, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(500);
    }
  }
}

const [mode, input = '{}'] = process.argv.slice(2);
const result =
  mode === 'prepare' ? await prepare() : mode === 'write' ? await write(JSON.parse(input)) : await verify();
console.log(JSON.stringify(result));
