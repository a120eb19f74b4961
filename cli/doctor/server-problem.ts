/** Why PostgreSQL, NATS or the object store cannot be used, in words: what was tried, the cause, what to do. Never a secret. */
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
    pattern: /^S3 .*\(40[13]\)$/m,
    cause: 'the access key is refused, or has no right to the bucket',
    advice: ({ setting }) => `Correct ${setting}, or give the key the right to make, read and write the bucket.`,
  },
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
    pattern: /CERT_|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|DEPTH_ZERO|certificate/i,
    cause: 'its certificate is not trusted',
    advice: () => 'Name the file of its authority in NODE_EXTRA_CA_CERTS.',
  },
  {
    pattern: /EPROTO|HPE_|Parse Error|08P01|InvalidResponse|ERR_SSL|socket hang up|ECONNRESET|closed by the server/i,
    cause: 'something else answers there, or it broke the connection off',
    advice: correct,
  },
];

/** The failure as a text for people. */
export function describeServerProblem(target: Target, error: unknown): CliError {
  const where = `${target.server} at ${target.address}${target.detail === '' ? '' : ` (${target.detail})`}`;
  if (error instanceof CliError) return new CliError(`${where}: ${error.message}`);
  const said = listTexts(error).join('\n');
  const known = explanations.find(({ pattern }) => pattern.test(said));
  if (known !== undefined) return new CliError(`${where}: ${known.cause}. ${known.advice(target)}`);
  return new CliError(`${where} cannot be used: ${listTexts(error).at(-1) ?? 'no reason is known'}. Is ${target.setting} right?`);
}

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
