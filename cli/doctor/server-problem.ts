/**
 * Explains errors of PostgreSQL, NATS and the object store: the attempt, the cause, the fix. Never contains secrets.
 */
import { ConfigError } from '#libs/infrastructure/config';
import { CliError } from '../failure.ts';

/** The target of a connection attempt: server, address, user, and the setting that contains them. */
export interface Target {
  readonly server: string;
  /** `host:port`. */
  readonly address: string;
  /** E.g. `database coherence, user admin`; may be empty. */
  readonly detail: string;
  readonly setting: string;
}

interface Explanation {
  readonly pattern: RegExp;
  readonly cause: string;
  readonly advice: (target: Target) => string;
}

const correct = ({ setting }: Target): string => `Correct ${setting}.`;

/** Explanations in order of precedence. Each is matched against codes and messages of an error and its causes. */
const explanations: readonly Explanation[] = [
  {
    pattern: / expired at \d{4}-\d\d-\d\dT/,
    cause: 'the credentials expired',
    advice: () => 'Issue new ones; the files are read for each connection.',
  },
  {
    pattern: /max_control_line/,
    cause: 'the credentials exceed the size limit of the server',
    advice: () => 'Give the user its permissions by a scoped signing key (docs/guides/tls.md#nats).',
  },
  {
    pattern: /client certificate, and NATS_TLS_CERT_FILE/,
    cause: 'it requires a client certificate',
    advice: () => 'Set NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE.',
  },
  {
    pattern: /NATS_(?:CREDS|NKEY_SEED|TLS_[A-Z]+)_FILE \S+ (?:is not|does not|and|cannot be used)/,
    cause: 'a file with credentials is malformed',
    advice: () => 'Recreate it (docs/guides/tls.md#nats).',
  },
  {
    pattern: /ECONNREFUSED|connection refused/i,
    cause: 'no server is listening',
    advice: ({ server, setting }) => `Start ${server}, or correct ${setting}.`,
  },
  { pattern: /ENOTFOUND|EAI_AGAIN/, cause: 'the host name is unknown', advice: correct },
  {
    pattern: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|TimeoutError|timeout/i,
    cause: 'no reply',
    advice: ({ setting }) => `Check ${setting} and firewalls.`,
  },
  {
    pattern: /28P01|28000|authorization violation|InvalidAccessKeyId|SignatureDoesNotMatch|user authentication/i,
    cause: 'the user or the password is wrong',
    advice: ({ setting }) => `Correct the credentials in ${setting}.`,
  },
  {
    pattern: /credentials refused \(40[13]\)/,
    cause: 'the credentials are wrong or have no access to the bucket',
    advice: ({ setting }) => `Correct ${setting}, or grant read and write access to the bucket.`,
  },
  {
    pattern: /ENOENT/,
    cause: 'a file does not exist',
    advice: correct,
  },
  { pattern: /EACCES|EISDIR/, cause: 'a file cannot be read', advice: correct },
  {
    pattern: /3D000/,
    cause: 'the database does not exist',
    advice: () => 'Create it with createdb, or correct DATABASE_URL.',
  },
  {
    pattern: /53300/,
    cause: 'it has no free connections',
    advice: () => 'Raise max_connections, or lower DATABASE_POOL_SIZE.',
  },
  { pattern: /57P03/, cause: 'it is starting or stopping', advice: () => 'Try again in a moment.' },
  {
    pattern: /jetstream not enabled|no responders/i,
    cause: 'it runs without JetStream',
    advice: () => 'Start nats-server with --jetstream, or `jetstream {}` in its configuration.',
  },
  {
    pattern: /permissions violation|AccessDenied|Forbidden|^403$|42501/im,
    cause: 'the user lacks permissions',
    advice: ({ detail }) => `Grant them (${detail}).`,
  },
  {
    pattern: /CERT_|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|DEPTH_ZERO|ERR_TLS|certificate/i,
    cause: 'its certificate is not trusted',
    advice: () => 'Set NODE_EXTRA_CA_CERTS to the certificate of its authority (docs/guides/tls.md).',
  },
  {
    pattern: /EPROTO|HPE_|Parse Error|08P01|InvalidResponse|ERR_SSL|socket hang up|ECONNRESET|closed by the server/i,
    cause: 'another kind of server is listening, or the connection was closed',
    advice: correct,
  },
];

export function describeServerProblem(target: Target, error: unknown): CliError {
  if (error instanceof CliError || error instanceof ConfigError)
    return new CliError(`${describeTarget(target)}: ${error.message}`);
  const reason = listTexts(error).at(-1) ?? 'unknown reason';
  return (
    explainServerProblem(target, error) ??
    new CliError(`${describeTarget(target)} cannot be used: ${reason}. Check ${target.setting}.`)
  );
}

/** Returns the explanation with the original error code; returns undefined for unknown errors. */
export function explainServerProblem(target: Target, error: unknown): CliError | undefined {
  const texts = listTexts(error);
  const messages = texts.join('\n');
  const known = explanations.find(({ pattern }) => pattern.test(messages));
  if (known === undefined) return undefined;
  const code = codePatterns.map((pattern) => pattern.exec(messages)?.[0]).find((found) => found !== undefined);
  return new CliError(
    `${describeTarget(target)}: ${known.cause}${code === undefined ? '' : ` (${code})`}. ${known.advice(target)}`,
  );
}

const describeTarget = ({ server, address, detail }: Target): string =>
  `${server} at ${address}${detail === '' ? '' : ` (${detail})`}`;

/**
 * Patterns of the error codes that people search for: statuses of the object store, missing files, TLS and system
 * codes, SQLSTATEs.
 */
const codePatterns = [
  /\b\d{3}(?=\) for bucket )/,
  /(?:ENOENT|EACCES|EISDIR): [^\n]*/,
  /\bNATS_(?:CREDS|NKEY_SEED|TLS_[A-Z]+)_FILE \S+/,
  /\b(?:CERT|UNABLE|SELF_SIGNED|DEPTH_ZERO|ERR_SSL|ERR_TLS)_[A-Z_]+\b/,
  /\bE(?:CONN|NOT|AI_|TIMED|HOST|NET|PROTO|PIPE)[A-Z]*\b/,
  /^(?:08|28|3D|42|53|57)[0-9A-Z]{3}$/m,
];

/** Returns the codes, names and messages of an error, of its causes and of its aggregated errors. */
function listTexts(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const { code } = error as NodeJS.ErrnoException;
  const inner = [error.cause, ...(error instanceof AggregateError ? (error.errors as unknown[]) : [])];
  return [
    ...(typeof code === 'string' ? [code] : []),
    error.name,
    ...(error.message === '' ? [] : [error.message]),
    ...inner.flatMap((item) => listTexts(item, depth + 1)),
  ];
}

/** Returns `host:port` of a URL, with `usualPort` when the URL has no port. */
export function addressOf(url: string, usualPort: number): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? usualPort : port}`;
}
