/**
 * TLS to PostgreSQL, configured by URL parameters with the meaning that libpq documents
 * (https://www.postgresql.org/docs/current/libpq-ssl.html): `sslmode`, `sslrootcert`, `sslcert`, `sslkey`,
 * `sslpassword`, `ssl_min_protocol_version`, `sslnegotiation`. Without `sslmode`, TLS is not used.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { checkServerIdentity, type ConnectionOptions, type SecureVersion } from 'node:tls';

const modes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type Mode = (typeof modes)[number];
const versions = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'];
const unsupported = ['sslcrl', 'sslcrldir', 'sslcertmode', 'ssl_max_protocol_version'];
/** Value of `sslrootcert`: trusts the certificate authorities of Node and of NODE_EXTRA_CA_CERTS. */
const systemRoots = 'system';

export interface TlsSettings {
  readonly mode: Mode;
  readonly rootCert: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
  readonly minVersion: string | undefined;
  /** Starts the TLS handshake immediately, without a negotiation request. */
  readonly direct: boolean;
}

/**
 * Removes the TLS parameters from a URL and returns them. @throws Error for an unknown, unsupported or contradictory
 * parameter
 */
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
  const mode =
    take('sslmode') ?? (take('ssl') === 'true' ? 'require' : rootCert === systemRoots ? 'verify-full' : 'disable');
  if (!modes.includes(mode as Mode)) fail('sslmode', `must be one of ${modes.join(', ')}`);
  if (rootCert === systemRoots && mode !== 'verify-full')
    fail('sslmode', 'must be verify-full with sslrootcert=system');
  const minVersion = take('ssl_min_protocol_version');
  if (minVersion !== undefined && !versions.includes(minVersion))
    fail('ssl_min_protocol_version', `must be one of ${versions.join(', ')}`);
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

/** Returns the connection methods to try, preferred first; true: with TLS, false: without TLS. */
export function listTlsWays({ mode }: Pick<TlsSettings, 'mode'>): readonly boolean[] {
  if (mode === 'disable') return [false];
  if (mode === 'allow') return [false, true];
  return mode === 'prefer' ? [true, false] : [true];
}

/**
 * Returns the TLS options for a connection to one server. The files are read for each connection, so that certificates
 * can be renewed.
 * @throws Error when a file cannot be read
 */
export function createTlsOptions(settings: TlsSettings, host: string): ConnectionOptions {
  const { mode, rootCert, cert, key, passphrase, minVersion } = settings;
  const hasRoot = rootCert !== undefined;
  return {
    ...(hasRoot && rootCert !== systemRoots ? { ca: readFileSync(rootCert, 'utf8') } : {}),
    ...(cert === undefined || key === undefined
      ? {}
      : { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(minVersion === undefined ? {} : { minVersion: minVersion as SecureVersion }),
    // As in libpq: without a root certificate, modes below `verify-ca` encrypt without verifying the server; with one,
    // they verify the issuer of the server's certificate.
    rejectUnauthorized: mode.startsWith('verify-') || hasRoot,
    // The driver does not pass the host name here, so the default check would compare with `localhost`.
    checkServerIdentity: (_name, certificate) =>
      mode === 'verify-full' ? checkServerIdentity(host, certificate) : undefined,
  };
}

export type ReadPassword = () => Promise<string>;

const commandTimeoutMs = 10_000;
const maxBytes = 64 * 1024;
/** SQLSTATE of a client that cannot connect. */
const cannotConnect = '08001';

/** Removes the source of the password from a URL and returns it; undefined when the URL does not have one. */
export function readPasswordSource(params: URLSearchParams): ReadPassword | undefined {
  const file = params.get('password_file');
  const command = params.get('password_command');
  params.delete('password_file');
  params.delete('password_command');
  if (file !== null) return () => readPasswordFile(file);
  return command === null ? undefined : shareRuns(() => runPasswordCommand(JSON.parse(command) as string[]));
}

async function readPasswordFile(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw failure(`DATABASE_PASSWORD_FILE: ${(error as Error).message}`);
  }
  return check(text, `DATABASE_PASSWORD_FILE ${file}`);
}

/**
 * Returns the password that the command prints. Runs without a shell; error messages never contain the command's
 * output.
 */
function runPasswordCommand([program = '', ...args]: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const name = `DATABASE_PASSWORD_COMMAND ${program}`;
    const child = execFile(
      program,
      args,
      { timeout: commandTimeoutMs, maxBuffer: maxBytes, encoding: 'utf8' },
      (error, stdout) => {
        if (error === null) {
          try {
            resolve(check(stdout, name));
          } catch (reason) {
            reject(reason);
          }
          return;
        }
        const { code, killed } = error;
        const tooMuch = String(code) === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
        const why = tooMuch
          ? `printed more than ${maxBytes} bytes`
          : killed === true
            ? 'took longer than 10 s'
            : `failed (${String(code)})`;
        reject(failure(`${name} ${why}`));
      },
    );
    child.stdin?.end();
  });
}

function check(text: string, name: string): string {
  const password = text.replace(/\r?\n$/, '');
  if (password === '' || password.length > maxBytes) throw failure(`${name}: the password is empty or too long`);
  return password;
}

/** Connections that are opened at the same time share one run of the command. */
function shareRuns(run: ReadPassword): ReadPassword {
  let running: Promise<string> | undefined;
  return () => (running ??= run().finally(() => (running = undefined)));
}

const failure = (message: string): Error => Object.assign(new Error(message), { code: cannotConnect });
