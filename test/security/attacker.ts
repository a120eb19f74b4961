/** An attacker's tools: connections that say what they like as slowly as they like, and a look at what it costs the gateway. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fetchNamed, startTestPlatform, type TestPlatform } from '../e2e/test-platform.ts';

/** The platform under attack, as in production: each service in a process of its own. */
export const startTarget: typeof startTestPlatform = (url, settings, options) =>
  startTestPlatform(url, settings, { ...options, processes: true });

export interface Wire {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** Everything that has come, as latin1. */
  readonly received: string;
  readonly isClosed: boolean;
  /** Resolves when the other side has ended the connection. */
  readonly closed: Promise<void>;
  hangUp(): void;
}

/** A connection to the gateway; `text` is sent at once. */
export async function openWire(platform: Pick<TestPlatform, 'baseUrl'>, text: string | Uint8Array = ''): Promise<Wire> {
  const { hostname, port } = new URL(platform.baseUrl);
  const socket = connect(Number(port), hostname);
  let received = '';
  let isClosed = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  await once(socket, 'connect');
  if (text.length > 0) socket.write(text);
  return {
    socket,
    send: (more) => void socket.write(more),
    get received() {
      return received;
    },
    get isClosed() {
      return isClosed;
    },
    closed,
    hangUp: () => void socket.destroy(),
  };
}

/** The head of a request; without a length its body comes in chunks. */
export function head(method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const lines = Object.entries({ Host: 'gateway', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Status codes of the answers that a wire has received. */
export const statusesOf = ({ received }: Wire): number[] => [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));

export interface Cost {
  /** Time of the processor since the process began. */
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** A service's memory and processor time as its metrics tell them. */
export async function readCost(platform: TestPlatform, service = 'api-gateway'): Promise<Cost> {
  const [heap, resident, cpu] = ['nodejs_heap_size_used_bytes', 'process_resident_memory_bytes', 'process_cpu_seconds_total'] as const;
  const text = await readMetrics(platform, service, [heap, resident, cpu]);
  return { heapBytes: sumOf(text, heap), residentBytes: sumOf(text, resident), cpuMs: sumOf(text, cpu) * 1_000 };
}

/** A metric of a service: all its series with these labels together. @throws Error when it has no such metric */
export async function readMetric(
  platform: TestPlatform,
  service: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  return sumOf(await readMetrics(platform, service, [name]), name, labels);
}

/** How often the gateway's guards have refused for a reason. */
export const countRefused = (platform: TestPlatform, reason: string): Promise<number> =>
  readMetric(platform, 'api-gateway', 'coherence_http_requests_refused_total', { reason });

async function readMetrics(platform: TestPlatform, service: string, names: readonly string[]): Promise<string> {
  const query = names.map((name) => `name[]=${name}`).join('&');
  const response = await fetchNamed(`${platform.runtime.processes.get(service)?.operationsUrl}/metrics?${query}`);
  return response.text();
}

function sumOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number {
  if (!text.includes(`# TYPE ${name} `)) throw new Error(`no metric is called ${name}`);
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return text
    .split('\n')
    .map((line) => /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [])
    .filter(([, found, pairs = '']) => found === name && wanted.every((pair) => `,${pairs}`.includes(`,${pair}`)))
    .reduce((sum, [, , , value]) => sum + Number(value), 0);
}

/** Milliseconds until another client's small request is answered. */
export async function measureOther(platform: TestPlatform, path: string): Promise<number> {
  const startedAt = performance.now();
  const { status } = await platform.call('GET', path);
  if (status !== 200) throw new Error(`another client got ${status}`);
  return performance.now() - startedAt;
}

/** Milliseconds of the processor that all processes of the platform have used, to a hundredth of a second. */
export function readCpuMs(platform: TestPlatform): number {
  const ticks = [...platform.runtime.processes.values()].map(({ identity }) => {
    const stat = readFileSync(`/proc/${identity?.pid}/stat`, 'utf8');
    // Behind the name in parentheses: state is the first, user and system time are the twelfth and thirteenth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10;
}

/** Milliseconds of the processor that parsing JSON takes here: what work of a service is compared with. */
export function measureParsing(json: string): number {
  const took = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    JSON.parse(json);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.max(...took, 5);
}
