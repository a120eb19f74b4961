/** Opens and maintains the connection: reconnects forever, with backoff, and never logs credentials. */
import { connect, type NatsConnection, type NodeConnectionOptions, type Server } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';
import { unavailable } from '#libs/infrastructure/errors';
import { Credentials } from './credentials.ts';

export interface ConnectionSettings {
  /**
   * `nats://[user:pass@]host:port`, `tls://…`, several separated by commas; parameters name files with credentials
   * (docs/guides/tls.md#nats).
   */
  readonly url: string;
  /** Name of the connection in the monitoring of the NATS server. */
  readonly name: string;
  readonly user?: string | undefined;
  readonly pass?: string | undefined;
  readonly logger: Logger;
  /** Time limit for the initial connection in milliseconds, default 30 000. */
  readonly connectTimeoutMs?: number | undefined;
}

const firstDelayMs = 50;
const maxDelayMs = 1_000;
/**
 * Interval of pings. A server that stops responding is detected after three pings; including the reconnection this
 * takes less than five seconds (rules/operations#promises).
 */
const pingIntervalMs = 1_200;
/** Time limit for connecting to one server; then the next server of the list is tried. */
const connectTimeoutMs = 3_000;
const defaultPort = 4222;

export interface OpenConnection {
  readonly connection: NatsConnection;
  /** Call it when the connection is up; it resets the reconnection backoff. */
  readonly onUp: () => void;
  readonly credentials: Credentials;
}

/**
 * Connects, with retries until `connectTimeoutMs`. @throws AppError unavailable with the address, without its
 * credentials; ConfigError
 */
export async function openConnection(settings: ConnectionSettings): Promise<OpenConnection> {
  const credentials = new Credentials(splitUrls(settings.url), settings);
  let attempt = 0;
  const nextDelay = (): number => {
    const base = Math.min(maxDelayMs, firstDelayMs * 2 ** Math.min(attempt++, 10));
    return base / 2 + (Math.random() * base) / 2;
  };
  const options = buildOptions(settings, nextDelay, credentials);
  const giveUpAtMs = performance.now() + (settings.connectTimeoutMs ?? 30_000);
  for (;;) {
    try {
      credentials.refresh();
      const connection = await connect(options);
      attempt = 0;
      keepServers(connection, settings.url);
      return { connection, onUp: () => void (attempt = 0), credentials };
    } catch (error) {
      const reason = [describeReason(error), credentials.explain(error)].filter((text) => text !== '').join('; ');
      if (performance.now() >= giveUpAtMs)
        throw unavailable(`Cannot connect to NATS at ${describeServers(settings.url)}: ${reason}`, { cause: error });
      if (attempt === 0)
        settings.logger.warn(
          { servers: describeServers(settings.url), reason },
          'NATS is not reachable yet; trying again',
        );
      await new Promise((resolve) => setTimeout(resolve, nextDelay()));
    }
  }
}

/**
 * Returns the error message of the client, with the system error code if the message lacks it, e.g. `connection refused
 * (ECONNREFUSED)`.
 */
function describeReason(error: unknown): string {
  const causes: Error[] = [];
  for (let current = error; current instanceof Error && causes.length < 5; current = current.cause)
    causes.push(current);
  const text = causes.find(({ message }) => message !== '')?.message ?? String(error);
  const code = causes.map((cause) => (cause as NodeJS.ErrnoException).code).find((value) => typeof value === 'string');
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}

/** Adds servers again that the client dropped because they were unreachable at first. */
function keepServers(connection: NatsConnection, url: string): void {
  const known = connection.getServers().map(({ listen }) => listen);
  const named = splitUrls(url).map(({ hostname, port }) => `${hostname}:${port || defaultPort}`);
  const lost = named.filter((server) => !known.includes(server));
  // Known servers keep the addresses that the client has resolved.
  if (lost.length > 0) connection.setServers([...known, ...lost]);
}

/**
 * Returns the server with the oldest connection attempt. This avoids the server that was just lost, which may accept
 * connections without responding.
 */
function chooseServer(servers: readonly Server[]): Server | null {
  return servers.toSorted((left, right) => left.lastConnect - right.lastConnect)[0] ?? null;
}

function buildOptions(
  settings: ConnectionSettings,
  nextDelay: () => number,
  credentials: Credentials,
): NodeConnectionOptions {
  let reported = '';
  /**
   * Reads the credentials before each connection. If a file is unusable, the previous credentials are used and the
   * error is logged once.
   */
  const refresh = (): void => {
    try {
      credentials.refresh();
      reported = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== reported) settings.logger.error(`credentials for NATS were not read again: ${message}`);
      reported = message;
    }
  };
  return {
    servers: splitUrls(settings.url).map((url) => url.host),
    name: settings.name,
    inboxPrefix: inboxPrefixOf(settings.name),
    noAsyncTraces: true,
    timeout: connectTimeoutMs,
    reconnectToServer: (servers) => {
      refresh();
      return chooseServer(servers);
    },
    maxReconnectAttempts: -1,
    reconnectDelayHandler: nextDelay,
    ignoreAuthErrorAbort: true,
    pingInterval: pingIntervalMs,
    maxPingOut: 2,
    ...credentials.options,
  };
}

/**
 * Returns the prefix of a connection's reply subjects. The NATS user of a service may subscribe only to the prefix of
 * that service (docs/adr/service-accounts.md).
 */
export function inboxPrefixOf(name: string): string {
  return `${inboxRoot}${name.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Prefix of all reply subjects. */
export const inboxRoot = '_INBOX.';

function splitUrls(text: string): URL[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => new URL(part.includes('://') ? part : `nats://${part}`));
}

/** Returns hosts and ports of NATS_URL without credentials, for messages and logs. */
export function describeServers(text: string): string {
  return splitUrls(text)
    .map(({ hostname, port }) => `${hostname}:${port || defaultPort}`)
    .join(', ');
}
