/** Why PostgreSQL, NATS or the object store cannot be used, in words: what was tried, the cause, what to do. Never a secret. */
import { ConfigError } from '#libs/config';
import { CliError } from '../failure.ts';

/** What is tried: the server as people know it, where it is, as whom, and the setting that says so. */
export interface Target {
  readonly server: string;
  /** `host:port`. */
  readonly address: string;
  /** E.g. `database coherence, user admin`; empty when there is nothing to say. */
  readonly detail: string;
  readonly setting: string;
}

interface Explanation {
  readonly pattern: RegExp;
  readonly cause: string;
  readonly advice: (target: Target) => string;
}

const correct = ({ setting }: Target): string => `Correct ${setting}.`;

/** Tried in this order against codes and messages of an error and of its causes. */
const explanations: readonly Explanation[] = [
  {
    pattern: / expired at \d{4}-\d\d-\d\dT/,
    cause: 'the credentials expired',
    advice: () => 'Issue new ones; they are read again for each connection.',
  },
  {
    pattern: /max_control_line/,
    cause: 'the credentials are larger than the server takes',
    advice: () => 'Give the user its permissions by a scoped signing key (docs/guides/tls.md#nats).',
  },
  {
    pattern: /client certificate, and NATS_TLS_CERT_FILE/,
    cause: 'it closes connections that show no client certificate',
    advice: () => 'Set NATS_TLS_CERT_FILE and NATS_TLS_KEY_FILE.',
  },
  {
    pattern: /NATS_(?:CREDS|NKEY_SEED|TLS_[A-Z]+)_FILE \S+ (?:is not|does not|and|cannot be used)/,
    cause: 'a file with credentials is malformed',
    advice: () => 'Make it again (docs/guides/tls.md#nats).',
  },
  {
    pattern: /ECONNREFUSED|connection refused/i,
    cause: 'nobody listens there',
    advice: ({ server, setting }) => `Start ${server}, or correct ${setting}.`,
  },
  { pattern: /ENOTFOUND|EAI_AGAIN/, cause: 'the name of the host is not known', advice: correct },
  {
    pattern: /ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|TimeoutError|timeout/i,
    cause: 'there is no answer',
    advice: ({ setting }) => `Is the address of ${setting} right, and no firewall between?`,
  },
  {
    pattern: /28P01|28000|authorization violation|InvalidAccessKeyId|SignatureDoesNotMatch|user authentication/i,
    cause: 'the user or the password is refused',
    advice: ({ setting }) => `Correct the credentials in ${setting}.`,
  },
  {
    pattern: /credentials refused \(40[13]\)/,
    cause: 'the credentials are refused, or have no right to the bucket',
    advice: ({ setting }) => `Correct ${setting}, or give them the right to read and write the bucket.`,
  },
  {
    pattern: /ENOENT/,
    cause: 'a file does not exist',
    advice: correct,
  },
  { pattern: /EACCES|EISDIR/, cause: 'a file cannot be read', advice: correct },
  { pattern: /3D000/, cause: 'there is no such database', advice: () => 'Make it with createdb, or name another one in DATABASE_URL.' },
  { pattern: /53300/, cause: 'it has no connection left', advice: () => 'Raise max_connections, or lower DATABASE_POOL_SIZE.' },
  { pattern: /57P03/, cause: 'it is still starting, or stopping', advice: () => 'Try again in a moment.' },
  {
    pattern: /jetstream not enabled|no responders/i,
    cause: 'it runs without JetStream',
    advice: () => 'Start nats-server with --jetstream, or `jetstream {}` in its configuration.',
  },
  {
    pattern: /permissions violation|AccessDenied|Forbidden|^403$|42501/im,
    cause: 'the user may not do what is needed',
    advice: ({ detail }) => `Give it the rights (${detail}).`,
  },
  {
    pattern: /CERT_|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|DEPTH_ZERO|ERR_TLS|certificate/i,
    cause: 'its certificate is not trusted',
    advice: () => 'Name the file of its authority in NODE_EXTRA_CA_CERTS (docs/guides/tls.md).',
  },
  {
    pattern: /EPROTO|HPE_|Parse Error|08P01|InvalidResponse|ERR_SSL|socket hang up|ECONNRESET|closed by the server/i,
    cause: 'something else answers there, or it broke the connection off',
    advice: correct,
  },
];

/** The failure as a text for people. */
export function describeServerProblem(target: Target, error: unknown): CliError {
  if (error instanceof CliError || error instanceof ConfigError) return new CliError(`${describeTarget(target)}: ${error.message}`);
  const reason = listTexts(error).at(-1) ?? 'no reason is known';
  return (
    explainServerProblem(target, error) ?? new CliError(`${describeTarget(target)} cannot be used: ${reason}. Is ${target.setting} right?`)
  );
}

/** With what the system or the server said; undefined when it is nothing that is known. */
export function explainServerProblem(target: Target, error: unknown): CliError | undefined {
  const texts = listTexts(error);
  const messages = texts.join('\n');
  const known = explanations.find(({ pattern }) => pattern.test(messages));
  if (known === undefined) return undefined;
  const code = codePatterns.map((pattern) => pattern.exec(messages)?.[0]).find((found) => found !== undefined);
  return new CliError(`${describeTarget(target)}: ${known.cause}${code === undefined ? '' : ` (${code})`}. ${known.advice(target)}`);
}

const describeTarget = ({ server, address, detail }: Target): string => `${server} at ${address}${detail === '' ? '' : ` (${detail})`}`;

/** What of it people search for: statuses of the object store, a missing file, codes of TLS and of the system, SQLSTATEs. */
const codePatterns = [
  /\b\d{3}(?=\) for bucket )/,
  /(?:ENOENT|EACCES|EISDIR): [^\n]*/,
  /\bNATS_(?:CREDS|NKEY_SEED|TLS_[A-Z]+)_FILE \S+/,
  /\b(?:CERT|UNABLE|SELF_SIGNED|DEPTH_ZERO|ERR_SSL|ERR_TLS)_[A-Z_]+\b/,
  /\bE(?:CONN|NOT|AI_|TIMED|HOST|NET|PROTO|PIPE)[A-Z]*\b/,
  /^(?:08|28|3D|42|53|57)[0-9A-Z]{3}$/m,
];

/** Codes, names and messages of an error, its causes, and what it gathers. */
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

/** `host:port` of an address, with the port that its protocol means. */
export function addressOf(url: string, usualPort: number): string {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port === '' ? usualPort : port}`;
}
