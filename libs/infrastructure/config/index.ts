/**
 * Configuration from environment variables with a schema (architecture#configuration): read once per process, before
 * any connection; all problems are reported together.
 */
import { Type, type Static, type TObject, type TProperties, type TSchema } from '#libs/infrastructure/contract';
import { compileSchema } from '#libs/infrastructure/schema';
import { isBlank } from '#libs/infrastructure/text';
import { readEnvironment } from './environment/index.ts';
import { accountName, findWeakSecrets, isExposed, listenHost, operatorSecret, secret } from './secrets.ts';
import { tracingSettings } from './tracing.ts';

export { readEnvironment } from './environment/index.ts';
export { tracingSettings } from './tracing.ts';
export {
  mapSecrets,
  maskSecrets,
  replaceSecrets,
  demoValues,
  isLoopback,
  isExposed,
  isSecretName,
  isPublicSecret,
  listPublicSecrets,
  listSecretValues,
  operatorSecret,
  rotatedSecret,
  secret,
  minSecretLength,
} from './secrets.ts';

/**
 * Reports all problems of the environment in one message. The message never quotes values, because they may be secrets.
 */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** A frozen configuration that satisfies the schema and has only declared names. */
export type ConfigOf<Properties extends TProperties> = Readonly<Static<TObject<Properties>>>;

/**
 * Reads the variables of `schema`. Text becomes an integer, number or boolean (`true`, `false`, `1`, `0`) by type; an
 * empty variable counts as absent; an absent one has the schema's default. In production, or when listening on more
 * than the loopback address, public and short secrets are problems too.
 * @throws ConfigError with all problems
 */
export function loadConfig<Properties extends TProperties>(
  schema: TObject<Properties>,
  env: Readonly<Record<string, string | undefined>> = readEnvironment(),
): ConfigOf<Properties> {
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  const required = new Set(schema.required as readonly string[] | undefined);
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    const text = env[name];
    if (text === undefined || text === '') {
      const fallback = readKeyword(property, 'default');
      if (fallback !== undefined) values[name] = fallback;
      else if (required.has(name)) problems.push(`${name} is missing${describe(property)}`);
      continue;
    }
    if (readKeyword(property, 'writeOnly') === true && isBlank(text)) {
      problems.push(`${name} ${describeBlank(property)}`);
      continue;
    }
    values[name] = coerce(text, property);
    const problem = compileSchema(property)(values[name]);
    if (problem !== undefined) problems.push(`${name} ${wording(property, problem.message)}${describe(property)}`);
  }
  if (isExposed(schema.properties, values, env['NODE_ENV']))
    problems.push(...findWeakSecrets(schema.properties, values));
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(values) as ConfigOf<Properties>;
}

/**
 * Reports a secret of white space only: it is a mistake and protects nothing. An empty variable means that there is no
 * secret.
 */
function describeBlank(schema: TSchema): string {
  const requested = readKeyword(schema, 'errorMessage');
  return `${typeof requested === 'string' ? `${requested}, and ` : ''}is blank: set a value, or leave it empty for none${describe(schema)}`;
}

function coerce(text: string, schema: TSchema): unknown {
  const type = readKeyword(schema, 'type');
  if (type === 'integer') return /^[+-]?[0-9]+$/.test(text) ? Number(text) : text;
  if (type === 'number') return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
  if (type !== 'boolean') return text;
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  return /^(false|0|no|off)$/i.test(text) ? false : text;
}

function wording(schema: TSchema, message: string): string {
  const choices = readKeyword(schema, 'anyOf') ?? readKeyword(schema, 'enum');
  if (Array.isArray(choices)) {
    const names = choices.map((choice: unknown) =>
      String(typeof choice === 'object' && choice !== null ? readKeyword(choice, 'const') : choice),
    );
    return `must be one of ${names.join(', ')}`;
  }
  const type = readKeyword(schema, 'type');
  if (type === 'boolean') return 'must be true or false';
  if (type === 'integer' && /integer|number/.test(message)) return 'must be a whole number';
  const pattern = readKeyword(schema, 'errorMessage');
  return typeof pattern === 'string' ? pattern : message;
}

function describe(schema: TSchema): string {
  const description = readKeyword(schema, 'description');
  return typeof description === 'string' ? ` (${description})` : '';
}

function readKeyword(schema: object, keyword: string): unknown {
  return (schema as Record<string, unknown>)[keyword];
}

const url = (description: string, protocols: string): TSchemaString =>
  Type.String({
    description,
    pattern: `^(${protocols})://[^\\s]+$`,
    errorMessage: `must be a URL that starts with ${protocols.replace('|', ':// or ')}://`,
  });
type TSchemaString = ReturnType<typeof Type.String>;

/** A setting for the address to listen on. The default accepts connections from the same machine only. */
const host = (description: string) =>
  listenHost(
    Type.String({
      default: '127.0.0.1',
      pattern: '^[A-Za-z0-9.:-]+$',
      errorMessage: 'must be an address or a name of this machine',
      description: `listen address of ${description}; :: = all, 127.0.0.1 = this machine only`,
    }),
  );

const port = (description: string, fallback: number) =>
  Type.Integer({ minimum: 0, maximum: 65_535, default: fallback, description });

/** Parameter of NATS_URL for each file setting. */
export const natsFileParameters = {
  NATS_CREDS_FILE: 'creds_file',
  NATS_NKEY_SEED_FILE: 'nkey_seed_file',
  NATS_TLS_CERT_FILE: 'tls_cert_file',
  NATS_TLS_KEY_FILE: 'tls_key_file',
  NATS_TLS_CA_FILE: 'tls_ca_file',
} as const;
const natsFile = (description: string) =>
  Type.Optional(Type.String({ description: `${description}; read for each connection` }));

/** NATS server, credentials, and the prefix that lets several installations share a server. */
export const natsSettings = {
  NATS_URL: secret(url('NATS server, e.g. nats://localhost:4222, or several separated by commas', 'nats|tls')),
  NATS_CREDS_FILE: natsFile(
    'credentials file of the NATS user (JWT and seed, as `nsc generate creds` writes it), instead of a user in NATS_URL',
  ),
  NATS_NKEY_SEED_FILE: natsFile('file with the nkey seed of the NATS user, instead of a user in NATS_URL'),
  NATS_TLS_CERT_FILE: natsFile('PEM file with the client certificate for NATS, beside NATS_TLS_KEY_FILE'),
  NATS_TLS_KEY_FILE: natsFile('PEM file with the key of NATS_TLS_CERT_FILE'),
  NATS_TLS_CA_FILE: natsFile(
    'PEM file with the authorities that certificates of NATS servers may have, no others then; unset = those of Node and NODE_EXTRA_CA_CERTS',
  ),
  NATS_SUBJECT_PREFIX: Type.String({
    default: '',
    pattern: '^[A-Za-z0-9_-]*$',
    description: 'first token of every subject and beginning of every stream name',
  }),
};

/**
 * Returns NATS_URL with the credential files as parameters (libs/infrastructure/nats).
 * @param user suffix of the setting names, for processes with several NATS users: `_GATEWAY` reads NATS_URL_GATEWAY,
 * NATS_CREDS_FILE_GATEWAY, …
 */
export function buildNatsUrl(settings: Readonly<Record<string, unknown>>, user = ''): string {
  const values = settings as Variables;
  const address = values[`NATS_URL${user}`] ?? '';
  const parameters = Object.entries(natsFileParameters).flatMap(([setting, parameter]) => {
    const file = values[`${setting}${user}`] ?? '';
    return file === '' ? [] : [`${parameter}=${encodeURIComponent(file)}`];
  });
  return parameters.length === 0 ? address : `${address}${address.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}

/**
 * Setting for verifying actors (libs/infrastructure/actor). The public key is marked as a secret so that an installation stores it
 * with the signing key.
 */
export const actorSettings = {
  ACTOR_PUBLIC_KEY: secret(
    Type.String({
      pattern: '^\\s*MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=(\\s+MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=)*\\s*$',
      errorMessage: 'must be an Ed25519 public key as base64 of its DER form, or several separated by spaces',
      description: 'public key of ACTOR_SIGNING_KEY; several, separated by spaces, during a rotation',
    }),
  ),
};

/** Signing of actors, in the gateway only (libs/infrastructure/actor). */
export const actorSigningSettings = {
  ACTOR_SIGNING_KEY: secret(
    Type.String({
      pattern: '^MC4CAQAwBQYDK2VwBCIEI[A-Za-z0-9+/]{43}$',
      errorMessage: 'must be an Ed25519 private key as base64 of its PKCS #8 DER form',
      description: 'Ed25519 key that signs actors',
    }),
  ),
};

/** Settings of every service that replies to RPCs. */
export const replySettings = {
  CHECK_REPLIES: Type.Boolean({
    default: false,
    description: 'check every reply against its contract; for tests',
  }),
};

/** Source of a rotating database password, read for each new connection. */
export const databasePasswordSettings = {
  DATABASE_PASSWORD_FILE: Type.Optional(
    Type.String({
      description: 'file with the password of DATABASE_URL, read for each new connection',
    }),
  ),
  DATABASE_PASSWORD_COMMAND: Type.Optional(
    Type.String({
      description:
        'command that prints the password of DATABASE_URL, such as an IAM token, run without a shell for each new connection: words separated by ' +
        'white space, or a JSON list; at most 10 s',
    }),
  ),
};

/**
 * Returns DATABASE_URL with the source of its password (libs/infrastructure/orm). @throws ConfigError when two sources are set, or the
 * command is malformed
 */
export function buildDatabaseUrl(settings: Readonly<Record<string, unknown>>): string {
  const {
    DATABASE_URL: address,
    DATABASE_PASSWORD_FILE: file = '',
    DATABASE_PASSWORD_COMMAND: command = '',
  } = settings as Variables;
  if (file === '' && command === '') return address ?? '';
  if (file !== '' && command !== '')
    throw new ConfigError(['DATABASE_PASSWORD_FILE and DATABASE_PASSWORD_COMMAND: set one of them']);
  const source =
    file === ''
      ? `password_command=${encodeURIComponent(JSON.stringify(splitCommand(command)))}`
      : `password_file=${encodeURIComponent(file)}`;
  return `${address}${address?.includes('?') === true ? '&' : '?'}${source}`;
}

type Variables = Readonly<Record<string, string | undefined>>;

function splitCommand(text: string): readonly string[] {
  if (!text.trimStart().startsWith('[')) return text.split(/\s+/).filter((word) => word !== '');
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')) return words;
  } catch {
    // The error is thrown below.
  }
  throw new ConfigError(['DATABASE_PASSWORD_COMMAND must be words separated by white space, or a JSON list of texts']);
}

/** Settings for PostgreSQL, with the pool size of this process. */
export const databaseSettings = {
  DATABASE_URL: secret(
    url(
      'PostgreSQL, e.g. postgresql://user:password@localhost:5432/coherence, or several servers: …@one:5432,two:5432/coherence?target_session_attrs=read-write',
      'postgresql|postgres',
    ),
  ),
  ...databasePasswordSettings,
  DATABASE_POOL_SIZE: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 1000,
    description: 'connections of this process',
  }),
  DATABASE_POOLER: Type.Union([Type.Literal('none'), Type.Literal('transaction')], {
    default: 'none',
    description: 'what DATABASE_URL leads to: `none` = PostgreSQL, `transaction` = a pooler in transaction mode',
  }),
};

/** Settings for an S3-compatible object store. */
export const s3Settings = {
  S3_ENDPOINT: url('object store, e.g. http://localhost:9000', 'http|https'),
  S3_REGION: Type.String({ default: 'us-east-1', description: 'region of the object store' }),
  S3_BUCKET: Type.String({ default: 'coherence', minLength: 3, description: 'bucket; made when missing' }),
  S3_ACCESS_KEY_ID: Type.Optional(
    accountName(
      Type.String({
        description:
          'access key of the object store; unset = credentials found by the AWS SDK (IRSA, Pod Identity, instance role, AWS_ variables)',
      }),
    ),
  ),
  S3_SECRET_ACCESS_KEY: Type.Optional(
    operatorSecret(Type.String({ description: 'secret key of the object store; set with S3_ACCESS_KEY_ID' })),
  ),
  S3_SESSION_TOKEN: Type.Optional(secret(Type.String({ description: 'session token of temporary keys' }))),
  S3_SESSION_TOKEN_FILE: Type.Optional(
    Type.String({ description: 'file instead of S3_SESSION_TOKEN, read every five minutes' }),
  ),
  S3_SSE: Type.Optional(
    Type.Union([Type.Literal('AES256'), Type.Literal('aws:kms'), Type.Literal('aws:kms:dsse')], {
      description: "encryption at rest; unset = the bucket's",
    }),
  ),
  S3_SSE_KMS_KEY_ID: Type.Optional(
    Type.String({ description: 'key of S3_SSE=aws:kms; unset = the default key of the account' }),
  ),
  S3_FORCE_PATH_STYLE: Type.Boolean({ default: true, description: 'bucket in the path instead of the host name' }),
};

/** Log settings of every process. */
export const logSettings = {
  NODE_ENV: Type.String({
    default: '',
    description: '`production` (default of the image) rejects published, short and missing secrets',
  }),
  LOG_LEVEL: Type.Union(
    [
      Type.Literal('trace'),
      Type.Literal('debug'),
      Type.Literal('info'),
      Type.Literal('warn'),
      Type.Literal('error'),
      Type.Literal('fatal'),
      Type.Literal('silent'),
    ],
    { default: 'info', description: 'least severe level that is written' },
  ),
};

/**
 * Settings for metrics, health and traces (rules/operations#health, rules/operations#metrics). Port 0 selects any free
 * port.
 */
export const telemetrySettings = {
  METRICS_PORT: port('metrics and health', 9090),
  METRICS_HOST: host('the port of metrics and health'),
  METRICS_TOKEN: operatorSecret(
    Type.String({ default: '', description: 'token that /metrics asks for; empty = none. Health asks for none' }),
  ),
  METRICS_OLD_NAMES: Type.Boolean({
    default: false,
    description: 'also expose metrics by their earlier names, without `coherence_`; removed in the next release',
  }),
  COHERENCE_COMMIT: Type.String({
    default: 'unknown',
    description: 'commit of the release, for `coherence_build_info`',
  }),
  ...tracingSettings,
};

/** Shutdown settings of HTTP services (rules/operations#availability). */
export const drainSettings = {
  DRAIN_WINDOW_SECONDS: Type.Integer({
    default: 3,
    minimum: 0,
    maximum: 5,
    description: 'time after SIGTERM in which requests are accepted, with `Connection: close`',
  }),
};

/** Settings of services that receive webhooks (D64, D68). */
export const webhookSettings = {
  ALLOW_UNSIGNED_WEBHOOKS: Type.Boolean({
    default: false,
    description: 'accept unsigned webhooks where no secret is set; for development only',
  }),
  RECEIPT_RETENTION_DAYS: Type.Integer({
    default: 90,
    minimum: 1,
    maximum: 3_650,
    description: 'retention of webhook bodies, and of receipts of rejected and ignored webhooks, days',
  }),
};

/** How long the history of objects is stored (W10). */
export const historyRetentionSetting = Type.Integer({
  default: 400,
  minimum: 1,
  maximum: 3_650,
  description: 'retention of the history of objects, days',
});

/** A host: `host`, `host:port`, with or without `http://` or `https://`, or IPv6 with or without brackets. */
const hostEntry = String.raw`(?:(?:https?://)?(?:\[[0-9A-Fa-f:.]+\]|[^\s,;/:@?#*\[\]]+)(?::[0-9]{1,5})?/?|(?:[0-9A-Fa-f]*:){2,}[0-9A-Fa-f.:]*)`;
const hostList = (description: string) =>
  Type.String({
    default: '',
    pattern: String.raw`^[\s,]*(?:${hostEntry}(?:[\s,]+${hostEntry})*[\s,]*)?$`,
    errorMessage: 'must be a list of host[:port] or http://host[:port], separated by commas or white space',
    description: `${description}: \`host[:port]\`, separated by commas or white space; default port 443, 80 with \`http://\``,
  });

/** Private hosts that services may call at providers configured by the operator (D90). */
export const outboundSettings = {
  OUTBOUND_ALLOWED_HOSTS: hostList('private hosts of configured providers, not of webhook endpoints'),
};

/** Private hosts that are allowed in URLs configured by accounts (D90). */
export const webhookHostSettings = {
  WEBHOOK_ALLOWED_HOSTS: hostList('private hosts of webhook endpoints, also without TLS'),
};

/**
 * Issuer of the identity provider. The gateway uses it for signing in, the directory for identities
 * (rules/access#identity-provider).
 */
export const issuerSetting = Type.Optional(
  url(
    'identity provider (OpenID Connect), exactly the `iss` of its tokens; unset = email and password only',
    'http|https',
  ),
);

/** Declares the address that a service listens on, e.g. `hostSetting('public HTTP')`. */
export const hostSetting = host;
/** Declares a port with a default, for a service that listens. */
export const portSetting = port;
/** Declares a URL with one of the given protocols, e.g. `urlSetting('meeting provider', 'http|https')`. */
export const urlSetting = url;
