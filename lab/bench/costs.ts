/**
 * What a request costs: processor time of every process of a platform, after the demo, while one kind of request is
 * asked again and again, divided by their number. Unlike a rate it is much the same on a busy machine. Of a language model nothing is counted.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoValues } from '#libs/config';
import { serviceNames } from '../../tools/start/environment.ts';
import type { RecordedProcess } from '../../tools/start/start-lock.ts';
import { type DemoPlatform, isService, readMemory, withDemoPlatform } from './demo-platform.ts';
import { type Request, runLoad } from './load.ts';

export interface CostRow {
  readonly request: string;
  /** Milliseconds of processor time for each. */
  readonly gateway: number;
  readonly services: number;
  readonly postgresql: number;
  /** NATS and the object store. */
  readonly others: number;
  /** Memory (PSS) of the six services together right after. */
  readonly megabytes: number;
}

const connections = 8;
const warmUpSeconds = 2;
/** For what goes on after the answer: jobs, write-ahead logs. */
const settleMs = 1_500;
/** The kernel counts in these. */
const tickMs = 10;

/** A row for each kind of request. @param seconds of each. @throws Error where there is no `/proc` */
export function measureCosts(seconds: number, say: (line: string) => void): Promise<CostRow[]> {
  const tell = (line: string): void => say(`costs: ${line}`);
  return withDemoPlatform({ RATE_LIMIT_LOGIN_PER_MINUTE: '0' }, tell, async ({ settings, processes }) => {
    const baseUrl = `http://127.0.0.1:${settings['PORT']}`;
    const rows: CostRow[] = [];
    for (const [request, makeRequest] of Object.entries(await listRequests(baseUrl, settings))) {
      tell(request);
      rows.push({ request, ...(await measureCost(processes, seconds, { baseUrl, makeRequest })) });
    }
    return rows;
  });
}

async function measureCost(
  processes: readonly RecordedProcess[],
  seconds: number,
  load: { baseUrl: string; makeRequest: (index: number) => Request },
): Promise<Omit<CostRow, 'request'>> {
  await runLoad({ ...load, connections, seconds: warmUpSeconds });
  await sleep(settleMs);
  const before = readTimes(processes);
  const { requests } = await runLoad({ ...load, connections, seconds });
  await sleep(settleMs);
  const after = readTimes(processes);
  const cost = (names: readonly string[]): number =>
    names.reduce((sum, name) => sum + (after.get(name) ?? 0) - (before.get(name) ?? 0), 0) / requests;
  const others = processes.filter((item) => item.name !== 'PostgreSQL' && !isService(item)).map(({ name }) => name);
  return {
    gateway: cost(['api-gateway']),
    services: cost(serviceNames.filter((name) => name !== 'api-gateway')),
    postgresql: cost(['PostgreSQL']),
    others: cost(others),
    megabytes: processes.filter(isService).reduce((sum, item) => sum + readMemory(item), 0),
  };
}

/** By name; of the demo's people, conversation and agent. */
async function listRequests(baseUrl: string, settings: DemoPlatform['settings']): Promise<Record<string, (index: number) => Request>> {
  const gate = { 'x-svc-api-key': settings['API_LOGIN_SECRET'] ?? '', 'content-type': 'application/json' };
  const credentials = JSON.stringify({ email: 'ada@example.org', password: settings['DEMO_PASSWORD'] ?? demoValues.DEMO_PASSWORD });
  const login: Request = { method: 'POST', path: '/api/v1/auth/login', headers: gate, body: credentials };
  const session = (await (await fetch(`${baseUrl}${login.path}`, { method: 'POST', headers: gate, body: credentials })).json()) as {
    token: string;
    person: { id: number };
  };
  const user = { authorization: `Bearer ${session.token}` };
  const shared = { authorization: `Bearer ${settings['API_TOKEN']}`, 'content-type': 'application/json' };
  const search = await fetch(`${baseUrl}/api/coherence/conversations/search?person_id=${session.person.id}`, { headers: user });
  const [conversation] = (await search.json()) as { id: number; start: string }[];
  if (conversation === undefined) throw new Error('the demo has left no conversation');
  const path = `/api/coherence/conversations/${conversation.id}`;
  const find = new URLSearchParams({ person_id: String(session.person.id), journey: 'open-circle', time: conversation.start });
  const ping = JSON.stringify({ triggerEvent: 'PING', payload: { title: 'Test', description: 'x'.repeat(1_500) } });
  const get = (where: string, headers: Record<string, string>) => (): Request => ({ method: 'GET', path: where, headers });
  return {
    'read a conversation': get(path, shared),
    'find the active conversation': get(`/api/coherence/conversations?${find.toString()}`, shared),
    'change a conversation (PATCH)': (index) => ({ method: 'PATCH', path, headers: shared, body: JSON.stringify({ infos: { n: index } }) }),
    'read the room': get(`${path}/enter-coherence`, shared),
    'find people by name': get('/api/v1/people?q=ad', user),
    'search everything': get('/api/v1/search?q=spring', user),
    "read an hour's transcript": get(`${path}/transcript`, shared),
    'download audio, each 10 MB': get(`${path}/audio`, shared),
    'take a webhook': () => ({
      method: 'POST',
      path: `/api/coherence/hook/booking/${session.person.id}`,
      headers: { 'content-type': 'application/json' },
      body: ping,
    }),
    'answer a visitor': () => ({
      method: 'POST',
      path: '/api/chat/guide/message/',
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ body: 'What is an open circle?' }),
    }),
    'log in': () => login,
  };
}

/** Milliseconds of processor time by recorded name, with what the processes have started. */
function readTimes(processes: readonly RecordedProcess[]): Map<string, number> {
  const stats = new Map<number, { parent: number; ticks: number }>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      // Own time and that of children who have ended (proc(5): fields 14 to 17).
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      stats.set(Number(pid), { parent: Number(fields[1]), ticks });
    } catch {
      // It has ended meanwhile.
    }
  }
  const ticksOf = (pid: number): number =>
    [...stats].reduce((sum, [child, { parent }]) => (parent === pid ? sum + ticksOf(child) : sum), stats.get(pid)?.ticks ?? 0);
  return new Map(processes.map(({ name, identity }) => [name, ticksOf(identity.pid) * tickMs]));
}
