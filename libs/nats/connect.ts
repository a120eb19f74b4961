/** Opening and keeping the connection: for ever, with backoff, and without credentials in any message. */
import { connect, type NatsConnection, type NodeConnectionOptions, type Server } from '@nats-io/transport-node';
import type { Logger } from '#libs/logger';
import { unavailable } from '#libs/errors';

export interface ConnectionSettings {
  /** `nats://[user:pass@]host:port`, `tls://…`, several separated by commas. */
  readonly url: string;
  /** Shown by the server's monitoring. */
  readonly name: string;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly logger: Logger;
  /** How long the first connection is tried; default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
}

const firstDelayMs = 50;
const maxDelayMs = 1_000;
/**
 * A server that is lost without a word (its machine is gone, or hangs) is noticed after three of these: with the way to another one it costs
 * less than five seconds (rules/operations#promises).
 */
const pingIntervalMs = 1_200;
/** For one server to answer; then the next of the list is tried. */
const connectTimeoutMs = 3_000;
const defaultPort = 4222;

/**
 * Connects; keeps trying until `connectTimeoutMs`.
 * @throws AppError unavailable when no server can be reached, with the address but not the credentials.
 */
export async function openConnection(settings: ConnectionSettings): Promise<{ connection: NatsConnection; onUp: () => void }> {
  let attempt = 0;
  const nextDelay = (): number => {
    const base = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt++, 10));
    return base / 2 + (Math.random() * base) / 2;
  };
  const options = buildOptions(settings, nextDelay);
  const giveUpAtMs = performance.now() + (settings.connectTimeoutMs ?? 30_000);
  for (;;) {
    try {
      const connection = await connect(options);
      attempt = 0;
      keepServers(connection, settings.url);
      return { connection, onUp: () => void (attempt = 0) };
    } catch (error) {
      const reason = describeReason(error);
      if (performance.now() >= giveUpAtMs)
        throw unavailable(`Cannot connect to NATS at ${describeServers(settings.url)}: ${reason}`, { cause: error });
      if (attempt === 0)
        settings.logger.warn({ servers: describeServers(settings.url), reason }, 'NATS is not reachable yet; trying again');
      await new Promise((resolve) => setTimeout(resolve, nextDelay()));
    }
  }
}

/** The client's words, with the code of the system where they do not have it, e.g. `connection refused (ECONNREFUSED)`. */
function describeReason(error: unknown): string {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 5; current = current.cause) causes.push(current);
  const text = causes.find(({ message }) => message !== '')?.message ?? String(error);
  const code = causes.map((cause) => (cause as NodeJS.ErrnoException).code).find((value) => typeof value === 'string');
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}

/** The client forgets servers that it could not reach at first; one that was away while we started is there for us when it is back. */
function keepServers(connection: NatsConnection, url: string): void {
  const known = connection.getServers().map(({ listen }) => listen);
  const named = splitUrls(url).map(({ hostname, port }) => `${hostname}:${port || defaultPort}`);
  const lost = named.filter((server) => !known.includes(server));
  // What the client made of a name stays: it may be the addresses behind it.
  if (lost.length > 0) connection.setServers([...known, ...lost]);
}

/** The one that was not tried for longest: never first the one that was just lost, which may take connections and answer nothing. */
function chooseServer(servers: readonly Server[]): Server | null {
  return servers.toSorted((left, right) => left.lastConnect - right.lastConnect)[0] ?? null;
}

function buildOptions(settings: ConnectionSettings, nextDelay: () => number): NodeConnectionOptions {
  const urls = splitUrls(settings.url);
  const first = urls[0];
  const user = settings.user ?? (first === undefined ? '' : decodeURIComponent(first.username));
  const pass = settings.pass ?? (first === undefined ? '' : decodeURIComponent(first.password));
  return {
    servers: urls.map((url) => url.host),
    name: settings.name,
    inboxPrefix: inboxPrefixOf(settings.name),
    noAsyncTraces: true,
    timeout: connectTimeoutMs,
    reconnectToServer: chooseServer,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: nextDelay,
    ignoreAuthErrorAbort: true,
    pingInterval: pingIntervalMs,
    maxPingOut: 2,
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
  };
}

/** Name of the user in messages; without one that of the connection. */
export function userOf({ url, user, name }: Pick<ConnectionSettings, 'url' | 'user' | 'name'>): string {
  const [first] = splitUrls(url);
  return user ?? (first === undefined || first.password === '' ? name : decodeURIComponent(first.username));
}

/**
 * Beginning of every subject on which a connection of that name waits for answers: the user of a service may listen there and to
 * nobody else's (docs/adr/service-accounts.md).
 */
export function inboxPrefixOf(name: string): string {
  return `${inboxRoot}${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Beginning of all places where answers are waited for. */
export const inboxRoot = '_INBOX.';

function splitUrls(text: string): URL[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => new URL(part.includes('://') ? part : `nats://${part}`));
}

/** Hosts and ports of NATS_URL without credentials, for messages and logs. */
export function describeServers(text: string): string {
  return splitUrls(text)
    .map(({ hostname, port }) => `${hostname}:${port || defaultPort}`)
    .join(', ');
}
