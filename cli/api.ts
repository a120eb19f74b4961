/** Calls the HTTP APIs with the TypeScript client and the credential of a profile (rules/cli#profiles). */
import { AppError, type ErrorCode, errorCodes } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import { releaseVersion } from '#libs/infrastructure/release';
import { ApiConnectionError, ApiError, type ApiReply, type Client, createClient } from '../clients/typescript/index.ts';
import { CliError, describeMissing } from './failure.ts';
import { localProfile, openProfiles, type Profile, writePrivateFile } from './profiles.ts';
import { type LocalPlatform, readLocalPlatform } from './settings.ts';

type Settings = Readonly<Record<string, string | undefined>>;

/** The installation and the credential of a command. */
export interface Target {
  /** Name of the profile; undefined when COHERENCE_URL and COHERENCE_KEY are used. */
  readonly profile: string | undefined;
  readonly url: string;
  readonly token: string;
  /** Returns a new token after the current one was rejected; undefined when the user must log in. */
  readonly renew?: (() => Promise<string>) | undefined;
}

/** Options of a client without a credential. */
export const clientOptions = (url: string) => ({
  baseUrl: url,
  headers: { 'User-Agent': `coherence-cli/${releaseVersion}` },
});

/** Returns the client of a target. Renews a rejected token once, where the target can. */
export function openClient({ url, token: first, renew }: Target): Client {
  let token = first;
  const send: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 401 || renew === undefined || init?.body instanceof ReadableStream) return response;
    await response.body?.cancel();
    token = await renew();
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  return createClient({ ...clientOptions(url), token: () => token, fetch: send });
}

/**
 * Chooses the installation: `--profile` or COHERENCE_PROFILE, COHERENCE_URL with COHERENCE_KEY, the profile of the last
 * login, the platform that `npm start` runs in this folder.
 * @throws CliError when none of them is available
 */
export async function findTarget(settings: Settings, chosen: string | undefined): Promise<Target> {
  const { COHERENCE_URL: url, COHERENCE_KEY: key, COHERENCE_PROFILE: named } = settings;
  const store = openProfiles(settings);
  let name = chosen ?? (named || undefined);
  if (name === undefined && url && key) return { profile: undefined, url: await checkUrl(url), token: key };
  name ??= store.current();
  const local = name === undefined || name === localProfile ? readLocalPlatform(settings) : undefined;
  if (local !== undefined) return openLocal(local);
  if (name === undefined || name === localProfile)
    throw new CliError(
      name === undefined
        ? 'Not logged in. Run `coherence login`, or set COHERENCE_URL and COHERENCE_KEY.'
        : 'No platform of `npm start` with a demo superuser is running in this folder.',
      'unavailable',
    );
  const profile = store.list().get(name);
  if (profile === undefined)
    throw new CliError(`Profile ${name} does not exist. Run \`coherence login --profile ${name}\`.`, 'not_found');
  return { profile: name, url: profile.url, token: profile.token, renew: renewalOf(profile, store, name) };
}

function renewalOf(profile: Profile, store: ReturnType<typeof openProfiles>, name: string): Target['renew'] {
  const { refresh } = profile;
  if (refresh === undefined) return undefined;
  return async () => {
    const { refreshDeviceTokens } = await import('#libs/infrastructure/oidc');
    const renewed = { ...profile, ...(await refreshDeviceTokens(refresh).catch(describeSignInFailure)) };
    store.save(name, renewed, false);
    return renewed.token;
  };
}

/** @throws CliError always */
export function describeSignInFailure(error: unknown): never {
  throw new CliError(
    `Sign-in at the identity provider failed: ${error instanceof Error ? error.message : String(error)}`,
  );
}

/** Logs in as the demo superuser on first use, and keeps the token beside the platform's data. */
async function openLocal(local: LocalPlatform): Promise<Target> {
  const renew = async (): Promise<string> => {
    const { email, password, url } = local;
    const { token } = await logIn(url, { email, password, gateKey: local.gateKey });
    writePrivateFile(local.tokenFile, token);
    return token;
  };
  return { profile: localProfile, url: local.url, token: local.token ?? (await renew()), renew };
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** The login gate key, API_LOGIN_SECRET of the installation. */
  readonly gateKey: string;
}

/** Exchanges email and password for a token. @throws AppError, CliError as `request` */
export async function logIn(url: string, { email, password, gateKey }: Credentials) {
  const client = createClient({ ...clientOptions(url), loginKey: gateKey.trim().split(/\s+/)[0] ?? '' });
  return (await translateErrors(() => client.login({ body: { email, password } }))).body;
}

/**
 * Returns the origin of an installation. Tokens and passwords are sent in clear text over http, which is allowed only
 * to this machine.
 * @throws CliError
 */
export async function checkUrl(text: string, allowHttp = false): Promise<string> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new CliError(`"${text}" is not a URL of an installation, e.g. https://coherence.example.org.`, 'usage');
  if (url.protocol === 'http:' && !allowHttp && !(await isOwnMachine(url)))
    throw new CliError(`${text} is not encrypted. Use https://, or --allow-http in a network that you trust.`, 'usage');
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

async function isOwnMachine({ hostname }: URL): Promise<boolean> {
  const { isLoopback } = await import('#libs/infrastructure/config'); // loading it takes as long as the rest of a command
  return isLoopback(hostname.replaceAll(/[[\]]/g, ''));
}

/**
 * Runs a call of the client.
 * @param subject e.g. `person 12`, for the error message of a plain 404
 * @throws AppError of the API; CliError when it cannot be reached
 */
export async function translateErrors<Reply extends ApiReply<number, unknown>>(
  call: () => Promise<Reply>,
  subject?: string,
): Promise<Reply> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof ApiConnectionError) {
      const { cause } = error.cause instanceof Error ? error.cause : error;
      const reason = cause instanceof Error ? `: ${cause.message || (cause as NodeJS.ErrnoException).code}` : '';
      throw new CliError(`${error.message}${reason}`, 'unavailable');
    }
    throw error instanceof ApiError ? toAppError(error, subject) : error;
  }
}

/** Returns the error as services return it to commands over NATS: the code by status, and the reason. */
function toAppError(error: ApiError, subject: string | undefined): AppError {
  const body = isJsonObject(error.body) ? error.body : {};
  const { code: v1, error: own, message, detail, retryable: _, ...details } = body;
  const code = codeOf(error.status);
  const { v1: ordinary } = errorCodes[code];
  const reason = [own, v1].find((name) => typeof name === 'string' && name !== code && name !== ordinary);
  const text = typeof message === 'string' ? message : typeof detail === 'string' ? detail : JSON.stringify(detail);
  const isBare = code === 'not_found' && reason === undefined && subject !== undefined;
  const hint = code === 'unauthenticated' && error.operation !== 'login' ? ' Run `coherence login`.' : '';
  return new AppError({
    code,
    ...(typeof reason === 'string' ? { reason } : {}),
    message: isBare ? describeMissing(subject) : `${text ?? `HTTP status ${error.status}`}${hint}`,
    ...(Object.keys(details).length === 0 ? {} : { details }),
  });
}

function codeOf(status: number): ErrorCode {
  const found = (Object.keys(errorCodes) as ErrorCode[]).find((code) => errorCodes[code].status === status);
  return found ?? (status >= 500 ? 'unavailable' : 'bad_request');
}
