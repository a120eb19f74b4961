/** Attack tools: raw connections with any content at any speed, and measurement of the cost for the gateway. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { fetchNamed, startTestPlatform, type TestPlatform } from '../e2e/test-platform.ts';

/** Starts the platform under attack as in production: each service runs in a separate process. */
export const startTarget: typeof startTestPlatform = (url, settings, options) =>
  startTestPlatform(url, settings, { ...options, processes: true });

export interface Wire {
  readonly socket: Socket;
  send(text: string | Uint8Array): void;
  /** All received data, as latin1. */
  readonly received: string;
  readonly isClosed: boolean;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  hangUp(): void;
}

/** Opens a connection to the gateway; `text` is sent immediately. */
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

/** Returns the head of a request. Without a Content-Length header the body is chunked. */
export function head(method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): string {
  const lines = Object.entries({ Host: 'gateway', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** Returns the status codes that were received on a connection. */
export const statusesOf = ({ received }: Wire): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code));

export interface Cost {
  /** CPU time since the process started. */
  readonly cpuMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Returns a service's memory and CPU time from its metrics. */
export async function readCost(platform: TestPlatform, service = 'api-gateway'): Promise<Cost> {
  const [heap, resident, cpu] = [
    'nodejs_heap_size_used_bytes',
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
  ] as const;
  const text = await readMetrics(platform, service, [heap, resident, cpu]);
  return { heapBytes: sumOf(text, heap), residentBytes: sumOf(text, resident), cpuMs: sumOf(text, cpu) * 1_000 };
}

/** Returns the sum of a service metric's series with these labels. @throws Error when the metric does not exist */
export async function readMetric(
  platform: TestPlatform,
  service: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  return sumOf(await readMetrics(platform, service, [name]), name, labels);
}

/** Returns how many requests the guards of the gateway rejected for this reason. */
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

/** Sends a small request as another client and returns its latency in milliseconds. */
export async function measureOther(platform: TestPlatform, path: string): Promise<number> {
  const startedAt = performance.now();
  const { status } = await platform.call('GET', path);
  if (status !== 200) throw new Error(`another client got ${status}`);
  return performance.now() - startedAt;
}

/** Returns the CPU milliseconds of all platform processes, with a resolution of ten milliseconds. */
export function readCpuMs(platform: TestPlatform): number {
  const ticks = [...platform.runtime.processes.values()].map(({ identity }) => {
    const stat = readFileSync(`/proc/${identity?.pid}/stat`, 'utf8');
    // The fields after the process name in parentheses. The first field is the state; the twelfth and thirteenth are
    // user and system time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * 10;
}

/** Returns the CPU milliseconds for parsing JSON in this process, the baseline for service work. */
export function measureParsing(json: string): number {
  const took = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage();
    JSON.parse(json);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.max(...took, 5);
}
