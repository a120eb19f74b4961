/**
 * What a request costs: processor time of every process of a platform (`npm start` in a folder of its own, after the demo) while one kind of request is
 * asked again and again, divided by their number. Unlike a rate it is much the same on a busy machine. Of a language model nothing is counted.
 */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { demoValues } from '#libs/config';
import { startOwnPlatform } from '../load/own-platform.ts';
import { serviceNames } from '../../tools/start/environment.ts';
import type { RecordedProcess } from '../../tools/start/start-lock.ts';
import { readSettings } from '../../cli/settings.ts';
import { type Request, runLoad } from './load.ts';
import { readPss } from './memory.ts';

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

const repoDir = join(import.meta.dirname, '..', '..');
const connections = 8;
const warmUpSeconds = 2;
/** For what goes on after the answer: jobs, write-ahead logs. */
const settleMs = 1_500;
/** The kernel counts in these. */
const tickMs = 10;

/** A row for each kind of request. @param seconds of each. @throws Error where there is no `/proc` */
export async function measureCosts(seconds: number, say: (line: string) => void): Promise<CostRow[]> {
  if (process.platform !== 'linux') throw new Error('Processor time is measured on Linux alone: it is read from /proc/<pid>/stat.');
  say('costs: starting a platform as npm start does, and playing the demo');
  const platform = await startOwnPlatform({ RATE_LIMIT_LOGIN_PER_MINUTE: '0' });
  try {
    const env = { ...process.env, COHERENCE_DATA_DIR: platform.dataDir };
    await promisify(execFile)(process.execPath, [join('tools', 'demo', 'main.ts')], { cwd: repoDir, env });
    const settings = readSettings({}, join(platform.dataDir, 'environment.json'));
    const baseUrl = `http://127.0.0.1:${settings['PORT']}`;
    const processes = JSON.parse(readFileSync(join(platform.dataDir, 'processes.json'), 'utf8')) as RecordedProcess[];
    const rows: CostRow[] = [];
    for (const [request, makeRequest] of Object.entries(await listRequests(baseUrl, settings))) {
      say(`costs: ${request}`);
      await runLoad({ baseUrl, connections, seconds: warmUpSeconds, makeRequest });
      await sleep(settleMs);
      const before = readTimes(processes);
      const { requests } = await runLoad({ baseUrl, connections, seconds, makeRequest });
      await sleep(settleMs);
      const after = readTimes(processes);
      const cost = (names: readonly string[]): number =>
        names.reduce((sum, name) => sum + (after.get(name) ?? 0) - (before.get(name) ?? 0), 0) / requests;
      const others = processes.filter((item) => item.name !== 'PostgreSQL' && !isService(item)).map(({ name }) => name);
      rows.push({
        request,
        gateway: cost(['api-gateway']),
        services: cost(serviceNames.filter((name) => name !== 'api-gateway')),
        postgresql: cost(['PostgreSQL']),
        others: cost(others),
        megabytes: processes.filter(isService).reduce((sum, { identity }) => sum + readPss(identity.pid), 0),
      });
    }
    return rows;
  } finally {
    await platform.stop();
  }
}

const isService = ({ name }: RecordedProcess): boolean => (serviceNames as readonly string[]).includes(name);

/** By name; of the demo's people, conversation and agent. */
async function listRequests(
  baseUrl: string,
  settings: ReturnType<typeof readSettings>,
): Promise<Record<string, (index: number) => Request>> {
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
