/**
 * Rotates every shared secret while clients use it: the replicas are restarted one by one, first with the old and new
 * value, then with the new value only (K8; docs/guides/secret-rotation.md). Two replicas of each service run. The
 * release form uses k6 clients; the smoke form runs one client of each kind in this process.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setInterval as everyMs } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { signBooking, waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../libs/product/servers/go-tool.ts';
import { k6Tool } from '../../libs/product/servers/go-tools.ts';
import { isRelease, sized } from '../drill.ts';
import { type Answer, applyDemo, startTestPlatform, type Demo, type TestPlatform } from './test-platform.ts';

const names = ['API_TOKEN', 'API_LOGIN_SECRET', 'BOOKING_WEBHOOK_SECRET'] as const;
type Secrets = Record<(typeof names)[number], string>;

/** How often each secret is used with each rotation state. */
const usesOfState = Number(process.env['ROTATION_USES'] ?? sized({ smoke: 3, release: 100 }));
/** The same pause between requests as in the k6 clients. */
const thinkMs = sized({ smoke: 100, release: 200 });
/** k6 may have to be built first. */
const testTimeoutMs = 420_000 + usesOfState * 1_000;
const newSecrets = (): Secrets =>
  Object.fromEntries(names.map((name) => [name, randomBytes(24).toString('base64url')])) as Secrets;
const [old, fresh] = [newSecrets(), newSecrets()];
const both = Object.fromEntries(names.map((name) => [name, `${fresh[name]} ${old[name]}`]));

let platform: TestPlatform;
let demo: Demo;
let conversation: number;
/** Serves the secret values that clients can use now. */
let store: Server;
let held: readonly Secrets[] = [old];
let done = false;
beforeAll(async () => {
  const settings = {
    ...old,
    RATE_LIMIT_LOGIN_PER_MINUTE: '0',
    DRAIN_WINDOW_SECONDS: sized({ smoke: '1', release: '2' }),
  };
  platform = await startTestPlatform(import.meta.url, settings, {
    services: ['directory', 'conversations', 'api-gateway'],
    replicas: 2,
  });
  demo = await applyDemo(platform, 'rotation');
  const [made] = (await read(old)).json;
  conversation = made.id;
  let turn = 0;
  store = createServer((request, response) => {
    const name = new URL(request.url ?? '', 'http://store').searchParams.get('name') as keyof Secrets;
    const value = held[turn++ % held.length]?.[name];
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ value, done }));
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
}, testTimeoutMs);
afterAll(async () => {
  done = true;
  store.close();
  await platform.stop();
});

const read = (secrets: Secrets): Promise<Answer> =>
  platform.call(
    'GET',
    `/api/coherence/conversations?person_id=${demo.ada}&journey=${demo.journey}&time=2026-05-01T10:00:00Z`,
    {
      token: secrets.API_TOKEN,
    },
  );
const logIn = ({ API_LOGIN_SECRET: key }: Secrets): Promise<Answer> =>
  platform.call('POST', '/api/v1/auth/login', {
    token: null,
    headers: { 'x-svc-api-key': key },
    json: { email: `ada-${demo.tag}@example.org`, password: `secret-of-ada-${demo.tag}` },
  });
function book({ BOOKING_WEBHOOK_SECRET: secret }: Secrets, turn: number): Promise<Answer> {
  const startTime = new Date(Date.UTC(2031, 0, 1) + turn * 3_600_000).toISOString();
  const metadata = { videoCallUrl: `https://meet.example.org/${demo.journey}` };
  const payload = { uid: `rotation-${turn}`, title: 'Talk', startTime, metadata };
  const body = JSON.stringify({ triggerEvent: 'BOOKING_CREATED', payload });
  return platform.call('POST', `/api/coherence/hook/booking/${demo.ada}`, {
    token: null,
    body,
    headers: signBooking(body, secret),
  });
}

/** Restarts the replicas one by one with these settings. In the smoke form the services are restarted in parallel. */
async function roll(settings: Record<string, string>): Promise<void> {
  const services = ['conversations', 'api-gateway'];
  if (isRelease) for (const service of services) await rollService(service, settings);
  else await Promise.all(services.map((service) => rollService(service, settings)));
}

async function rollService(service: string, settings: Record<string, string>): Promise<void> {
  for (const name of [service, `${service}#2`]) {
    const item = platform.runtime.processes.get(name);
    item?.kill('SIGTERM');
    expect([name, await item?.ended]).toEqual([name, 'ended with status 0']);
    await platform.runtime.restart(name, settings);
  }
}

async function runK6(): Promise<{ code: number; output: string }> {
  const k6 = await provideGoTool(k6Tool, () => {});
  const env = {
    ...process.env,
    BASE_URL: platform.baseUrl,
    SECRETS_URL: `http://127.0.0.1:${(store.address() as AddressInfo).port}/`,
    CONVERSATION_ID: String(conversation),
    PERSON_ID: String(demo.ada),
    JOURNEY: demo.journey,
    EMAIL: `ada-${demo.tag}@example.org`,
    PASSWORD: `secret-of-ada-${demo.tag}`,
  };
  const script = join(import.meta.dirname, '..', 'load', 'rotation.js');
  return new Promise((resolve) => {
    const options = { env, maxBuffer: 16 * 1024 * 1024 };
    execFile(k6, ['run', '--quiet', '--no-usage-report', script], options, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1,
        output: `${stdout}${stderr}`,
      });
    });
  });
}

/** Runs one client of each kind until the rotation is complete. @returns as `runK6` */
async function runClients(): Promise<{ code: number; output: string }> {
  const refused: string[] = [];
  const use = async (request: (secrets: Secrets, turn: number) => Promise<Answer>): Promise<void> => {
    let turn = 0;
    for await (const _tick of everyMs(thinkMs)) {
      if (done) return;
      const [secrets = old, at] = [held[turn % held.length], turn++];
      // A server may close a connection while a request is in transit; the client retries once (RFC 9112, 9.3.1).
      const { status, text } = await request(secrets, at).catch(() => request(secrets, at));
      if (status !== 200) refused.push(`${request.name}: ${status} ${text}`);
    }
  };
  await Promise.all([read, logIn, book].map(use));
  return { code: refused.length === 0 ? 0 : 1, output: refused.join('\n') };
}

/** Returns the uses of each secret value since the replicas started: `API_TOKEN 1` → 12. */
async function readUses(): Promise<Record<string, number>> {
  const uses: Record<string, number> = {};
  for (const { operationsUrl } of platform.runtime.processes.values()) {
    const text = await (await fetch(`${operationsUrl}/metrics`)).text();
    for (const [, labels = '', count] of text.matchAll(/^coherence_secret_uses_total\{(.*)\} (\d+)$/gm)) {
      const [secret, position] = ['secret', 'position'].map(
        (label) => new RegExp(`\\b${label}="(\\w+)"`).exec(labels)?.[1],
      );
      uses[`${secret} ${position}`] = (uses[`${secret} ${position}`] ?? 0) + Number(count);
    }
  }
  return uses;
}

const sumOf = (uses: Record<string, number>, position: number): number[] =>
  names.map((name) => uses[`${name} ${position}`] ?? 0);

/** Waits until each secret was used `usesOfState` more times with the value at this position. */
async function useMore(position: number): Promise<void> {
  const before = sumOf(await readUses(), position);
  const hasMore = async (): Promise<boolean> =>
    sumOf(await readUses(), position).every((count, index) => count >= (before[index] ?? 0) + usesOfState);
  await waitFor(hasMore, { timeoutMs: testTimeoutMs, intervalMs: thinkMs, what: `uses of value ${position}` });
}

/** Returns whether no client uses old values any more. The runbook requires this before old values are removed. */
async function isOldUnused(): Promise<boolean> {
  const before = sumOf(await readUses(), 2);
  await useMore(1);
  return sumOf(await readUses(), 2).every((count, index) => count === before[index]);
}

describe('rotation of the shared secrets under load (K8)', () => {
  it(
    'rejects no request while the shared token is old, old and new, then new',
    async () => {
      const run = isRelease ? runK6() : runClients();
      const rotate = async (): Promise<void> => {
        await useMore(1);
        await roll(both);
        held = [fresh, old]; // some clients have the new values, others the old ones
        await Promise.all([useMore(1), useMore(2)]);
        held = [fresh];
        await waitFor(isOldUnused, { timeoutMs: testTimeoutMs, what: 'old values without a use' });
        await roll(fresh);
        await useMore(1);
      };
      try {
        const early = await Promise.race([run, rotate()]);
        expect(early).toBeUndefined(); // The clients must run until the rotation is complete.
      } finally {
        done = true;
      }
      const { code, output } = await run;
      expect(`${code}\n${output}`).toMatch(/^0\n/);
    },
    testTimeoutMs,
  );

  it('loses no booking, and rejects no booking signature during the rotation', async () => {
    const receipts = () =>
      platform.sql<{ outcome: string; count: number }>(
        'select outcome, count(*)::integer as count from conversations.webhook_receipts group by outcome',
      );
    await waitFor(async () => (await receipts()).every(({ outcome }) => outcome !== 'pending'));
    expect(await receipts()).toEqual([{ outcome: 'applied', count: expect.any(Number) }]);
  });

  it('rejects the old secrets after the rotation', async () => {
    expect((await read(fresh)).status).toBe(200);
    expect((await read(old)).status).toBe(401);
    expect([(await logIn(fresh)).status, (await logIn(old)).status]).toEqual([200, 401]);
    const body = JSON.stringify({ triggerEvent: 'BOOKING_CREATED', payload: { uid: 'late' } });
    await platform.call('POST', `/api/coherence/hook/booking/${demo.ada}`, {
      token: null,
      body,
      headers: signBooking(body, old.BOOKING_WEBHOOK_SECRET),
    });
    await waitFor(
      async () =>
        (await platform.sql(`select 1 from conversations.webhook_receipts where outcome = 'rejected_signature'`))
          .length === 1,
    );
  });
});
