/**
 * TLS to PostgreSQL, in the parameters of an address and with the meaning that libpq documents (https://www.postgresql.org/docs/current/libpq-ssl.html):
 * `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `sslpassword`, `ssl_min_protocol_version`, `sslnegotiation`. Without `sslmode` there is none.
 */
import { readFileSync } from 'node:fs';
import { checkServerIdentity, type ConnectionOptions, type SecureVersion } from 'node:tls';

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];
const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
const unsupported = ['sslcrl', 'sslcrldir', 'sslcertmode', 'ssl_max_protocol_version'];
/** Trusts what the process trusts: the authorities of Node, and those of NODE_EXTRA_CA_CERTS. */
const systemRoots = 'system';

export interface TlsSettings {
  readonly mode: Mode;
  readonly rootCert: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
  readonly minVersion: string | undefined;
  /** The handshake begins the connection, without a question before it. */
  readonly direct: boolean;
}

/** Takes the parameters of TLS out of an address. @throws Error for one that is unknown, not supported or contradicts another */
export function readTlsSettings(params: URLSearchParams, variable: string): TlsSettings {
  const fail = (name: string, what: string): never => {
    throw new Error(`${name} of ${variable} ${what}`);
  };
  const take = (name: string): string | undefined => {
    const value = params.get(name) ?? undefined;
    params.delete(name);
    return value === '' ? undefined : value;
  };
  for (const name of unsupported) if (params.has(name)) fail(name, 'is not supported');
  const rootCert = take('sslrootcert');
  const mode = take('sslmode') ?? (take('ssl') === 'true' ? 'require' : rootCert === systemRoots ? 'verify-full' : 'disable');
  if (!modes.includes(mode as Mode)) fail('sslmode', `must be one of ${modes.join(', ')}`);
  if (rootCert === systemRoots && mode !== 'verify-full') fail('sslmode', 'must be verify-full with sslrootcert=system');
  const minVersion = take('ssl_min_protocol_version');
  if (minVersion !== undefined && !versions.includes(minVersion)) fail('ssl_min_protocol_version', `must be one of ${versions.join(', ')}`);
  const negotiation = take('sslnegotiation') ?? 'postgres';
  if (!['postgres', 'direct'].includes(negotiation)) fail('sslnegotiation', 'must be one of postgres, direct');
  const direct = negotiation === 'direct';
  if (direct && ['disable', 'allow', 'prefer'].includes(mode))
    fail('sslmode', 'must be require, verify-ca or verify-full with sslnegotiation=direct');
  const [cert, key, passphrase] = [take('sslcert'), take('sslkey'), take('sslpassword')];
  if ((cert === undefined) !== (key === undefined)) fail('sslcert', 'needs sslkey, and sslkey needs sslcert');
  for (const name of ['uselibpqcompat', 'ssl']) params.delete(name);
  return { mode: mode as Mode, rootCert, cert, key, passphrase, minVersion, direct };
}

/** Ways to connect, the preferred one first; false = without TLS. */
export function listTlsWays({ mode }: Pick<TlsSettings, 'mode'>): readonly boolean[] {
  if (mode === 'disable') return [false];
  if (mode === 'allow') return [false, true];
  return mode === 'prefer' ? [true, false] : [true];
}

/**
 * What the handshake with one server checks and shows. The files are read anew for each connection, so that certificates may be renewed.
 * @throws Error when a file cannot be read
 */
export function createTlsOptions(settings: TlsSettings, host: string): ConnectionOptions {
  const { mode, rootCert, cert, key, passphrase, minVersion } = settings;
  const hasRoot = rootCert !== undefined;
  return {
    ...(hasRoot && rootCert !== systemRoots ? { ca: readFileSync(rootCert, 'utf8') } : {}),
    ...(cert === undefined || key === undefined ? {} : { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(minVersion === undefined ? {} : { minVersion: minVersion as SecureVersion }),
    // As in libpq: without a root certificate the weaker modes encrypt for whomever answers, with one they verify its authority.
    rejectUnauthorized: mode.startsWith('verify-') || hasRoot,
    // The driver knows no address here, and would compare with `localhost`.
    checkServerIdentity: (_name, certificate) => (mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined),
  };
}
