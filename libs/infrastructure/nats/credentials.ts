/**
 * Credentials other than user and password: a credentials file (JWT), an nkey seed or a client certificate. Parameters
 * of the address name the files. The files are read again before each connection, so that they can be rotated
 * (docs/guides/tls.md).
 */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  type Authenticator,
  credsAuthenticator,
  errors,
  nkeyAuthenticator,
  type NodeConnectionOptions,
  usernamePasswordAuthenticator,
} from '@nats-io/transport-node';
import { ConfigError, natsFileParameters } from '#libs/infrastructure/config';
import { isJsonObject, parseJson } from '#libs/infrastructure/json';

type FileSetting = keyof typeof natsFileParameters;
type Auth = ReturnType<Authenticator>;

/** Description of the credentials. */
interface Identity {
  readonly user?: string | undefined;
  /** Expiry in seconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Length of the JWT in bytes. */
  readonly bytes?: number;
}

interface TlsTexts {
  cert?: string;
  key?: string;
  ca?: string;
}

/**
 * Maximum length of a JWT that fits with the other fields of CONNECT; by default servers limit the message to 4096
 * bytes.
 */
const usualControlLine = 3_600;
const fileSettings = Object.keys(natsFileParameters) as FileSetting[];

export class Credentials {
  /**
   * TLS files; the client reads them from this object for each connection. Undefined: no TLS unless the server requires
   * it.
   */
  readonly tls: TlsTexts | undefined;
  readonly #files: Readonly<Partial<Record<FileSetting, string>>>;
  readonly #login: { user: string; pass: string } | undefined;
  #authenticate: Authenticator | undefined;
  #identity: Identity = {};

  /** @throws ConfigError when the address has unknown parameters or conflicting credentials */
  constructor(urls: readonly URL[], { user, pass }: { user?: string | undefined; pass?: string | undefined } = {}) {
    const [first] = urls;
    this.#files = findFiles(urls);
    const login = { user: user ?? decode(first?.username), pass: pass ?? decode(first?.password) };
    if (login.user !== '') this.#login = login;
    checkFiles(this.#files, login.user !== '');
    const { NATS_TLS_CERT_FILE: cert, NATS_TLS_CA_FILE: ca } = this.#files;
    if (urls.some(({ protocol }) => protocol === 'tls:') || cert !== undefined || ca !== undefined) this.tls = {};
  }

  /** Returns client options with the file contents that `refresh` read last. */
  get options(): Pick<NodeConnectionOptions, 'authenticator' | 'token' | 'tls'> {
    const { NATS_CREDS_FILE: creds, NATS_NKEY_SEED_FILE: seed } = this.#files;
    const login = this.#login;
    return {
      ...(creds !== undefined || seed !== undefined
        ? { authenticator: (nonce?: string): Auth => this.#authenticate?.(nonce) }
        : {}),
      ...(login === undefined
        ? {}
        : login.pass === ''
          ? { token: login.user }
          : { authenticator: usernamePasswordAuthenticator(login.user, login.pass) }),
      ...(this.tls === undefined ? {} : { tls: this.tls }),
    };
  }

  /** Returns the user name for messages, if the credentials contain one. */
  get user(): string | undefined {
    return this.#login?.pass === '' ? undefined : (this.#login?.user ?? this.#identity.user);
  }

  /**
   * Reads the files. If a file is missing or malformed, all previous contents remain in use, because a rotation may be
   * in progress.
   * @throws Error with the setting, the file and the reason, never with the content of the file
   */
  refresh(): void {
    const { NATS_CREDS_FILE: creds, NATS_NKEY_SEED_FILE: seed, NATS_TLS_CERT_FILE: cert } = this.#files;
    const [proof] = [
      ...(creds === undefined ? [] : [this.#readCreds()]),
      ...(seed === undefined ? [] : [this.#readSeed()]),
    ];
    const tls: TlsTexts = {
      ...(cert === undefined ? {} : { cert: this.#read('NATS_TLS_CERT_FILE'), key: this.#read('NATS_TLS_KEY_FILE') }),
      ...(this.#files.NATS_TLS_CA_FILE === undefined ? {} : { ca: this.#read('NATS_TLS_CA_FILE') }),
    };
    this.#check(
      cert === undefined ? ['NATS_TLS_CA_FILE'] : ['NATS_TLS_CERT_FILE', 'NATS_TLS_KEY_FILE'],
      'cannot be used',
      () => createSecureContext(tls),
    );
    if (proof !== undefined) [this.#authenticate, this.#identity] = [proof.authenticate, proof.identity];
    if (this.tls !== undefined) Object.assign(this.tls, tls);
  }

  /** Returns why a server may have rejected the credentials; an empty text when unknown. */
  explain(error: unknown): string {
    const { expiresAt, bytes = 0 } = this.#identity;
    const { NATS_CREDS_FILE: creds, NATS_TLS_CERT_FILE: cert } = this.#files;
    if (expiresAt !== undefined && expiresAt * 1000 <= Date.now())
      return `the credentials in NATS_CREDS_FILE ${creds} expired at ${new Date(expiresAt * 1000).toISOString()}`;
    // When a server closes the connection without a reply, the client reports a timeout.
    if (!(error instanceof errors.TimeoutError)) return '';
    if (bytes > usualControlLine)
      return `the credentials in NATS_CREDS_FILE ${creds} have ${bytes} bytes, more than servers take (max_control_line, by default 4096)`;
    return this.tls !== undefined && cert === undefined
      ? 'the server may ask for a client certificate, and NATS_TLS_CERT_FILE is not set'
      : '';
  }

  #readCreds(): { authenticate: Authenticator; identity: Identity } {
    const text = this.#read('NATS_CREDS_FILE');
    return this.#check(['NATS_CREDS_FILE'], 'is not a credentials file as `nsc generate creds` writes it', () => {
      // The client rejects CRLF and requires a trailing line feed.
      const authenticate = credsAuthenticator(new TextEncoder().encode(`${text.replaceAll('\r\n', '\n').trimEnd()}\n`));
      const { jwt } = authenticate('nonce') as { jwt: string };
      const claims = parseJson(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString('utf8'));
      if (!isJsonObject(claims)) throw new Error('the JWT has no claims');
      const { name, exp } = claims;
      return {
        authenticate,
        identity: {
          user: typeof name === 'string' ? name : undefined,
          expiresAt: typeof exp === 'number' ? exp : undefined,
          bytes: jwt.length,
        },
      };
    });
  }

  #readSeed(): { authenticate: Authenticator; identity: Identity } {
    const text = this.#read('NATS_NKEY_SEED_FILE').trim();
    return this.#check(['NATS_NKEY_SEED_FILE'], 'does not hold the seed of a user, which begins with SU', () => {
      if (!text.startsWith('SU')) throw new Error('another kind of key');
      const authenticate = nkeyAuthenticator(new TextEncoder().encode(text));
      return { authenticate, identity: { user: (authenticate('nonce') as { nkey: string }).nkey } };
    });
  }

  #read(setting: FileSetting): string {
    return this.#check([setting], 'cannot be read', () => readFileSync(this.#files[setting] ?? '', 'utf8'));
  }

  #check<T>(settings: readonly FileSetting[], problem: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      const names = settings.map((setting) => `${setting} ${this.#files[setting]}`).join(' and ');
      const { code, message } = error as NodeJS.ErrnoException;
      throw new Error(`${names} ${problem}${code === undefined ? '' : `: ${message}`}`, { cause: error });
    }
  }
}

const decode = (text = ''): string => decodeURIComponent(text);

/** Returns the files named in the parameters of the server addresses. */
function findFiles(urls: readonly URL[]): Partial<Record<FileSetting, string>> {
  const files: Partial<Record<FileSetting, string>> = {};
  for (const [name, value] of urls.flatMap(({ searchParams }) => [...searchParams])) {
    const setting = fileSettings.find((candidate) => natsFileParameters[candidate] === name);
    if (setting === undefined)
      throw new ConfigError([
        `NATS_URL has an unknown parameter ${name}: known are ${Object.values(natsFileParameters).join(', ')}`,
      ]);
    if (value !== '') files[setting] = value;
  }
  return files;
}

function checkFiles(files: Partial<Record<FileSetting, string>>, hasLogin: boolean): void {
  const proofs = [
    ...(hasLogin ? ['the user in NATS_URL'] : []),
    ...(['NATS_CREDS_FILE', 'NATS_NKEY_SEED_FILE'] as const).filter((name) => files[name] !== undefined),
  ];
  if (proofs.length > 1) throw new ConfigError([`${proofs.join(' and ')} exclude each other: set one of them`]);
  if ((files.NATS_TLS_CERT_FILE === undefined) !== (files.NATS_TLS_KEY_FILE === undefined))
    throw new ConfigError([
      'NATS_TLS_CERT_FILE needs NATS_TLS_KEY_FILE, and NATS_TLS_KEY_FILE needs NATS_TLS_CERT_FILE',
    ]);
}
