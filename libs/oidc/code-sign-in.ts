/**
 * Sign-in of a browser by the code flow with PKCE (S3), for the console: `begin` says where to send the browser and what to let it keep in a cookie,
 * `finish` takes the address to which it comes back, and what it kept, and says who has signed in. The cookie must reach the address that the provider sends
 * the browser back to, so it is `SameSite=Lax`, `HttpOnly` and short-lived; everything in it is sealed. Whoever is named becomes an account by the directory
 * (`identities.sign-in`).
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import { AppError, unavailable } from '#libs/errors';
import { type Outbound, OutboundError } from '#libs/outbound';
import { findUrlProblem, type Provider, type ProviderMetadata } from './provider.ts';
import { createSealer } from './sealer.ts';
import type { SigningKeys } from './signing-keys.ts';
import { createVerifier, type Identity } from './verifier.ts';

export interface CodeSignIn {
  /**
   * @param redirectUri where the provider sends the browser back to, as it is registered there
   * @throws AppError unavailable when the provider is away
   */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly kept: string }>;
  /**
   * @param query of the address to which the browser came back
   * @param kept what `begin` gave; undefined when the browser has brought nothing
   * @throws AppError unauthenticated when this browser did not begin it, somebody said no, or anything does not fit; unavailable when the provider is away
   */
  finish(query: string, kept: string | undefined): Promise<Identity>;
}

export interface CodeSignInOptions {
  readonly provider: Provider;
  readonly keys: SigningKeys;
  readonly outbound: Outbound;
  readonly allowedHosts: string;
  readonly clientId: string;
  /** Of a client that the provider has given one; without it PKCE alone says that both requests are ours. */
  readonly clientSecret?: string | undefined;
  /** Of the installation, the same in every replica: what browsers keep is sealed with a key that is made of it. */
  readonly secret: string;
  /** Epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** For people to sign in at the provider. */
export const signInSeconds = 600;
/** After which the discovery document is read again. */
const metadataMs = 10 * 60_000;
const timeoutMs = 10_000;

type Kept = Readonly<Record<'state' | 'nonce' | 'verifier' | 'redirectUri', string>>;

export function createCodeSignIn(options: CodeSignInOptions): CodeSignIn {
  const { provider, keys, outbound, allowedHosts, clientId, clientSecret, secret, now = () => Date.now() } = options;
  const sealer = createSealer<Kept>({ secret, purpose: 'sign-in', lifeSeconds: signInSeconds, now });
  const verifier = createVerifier({ issuer: provider.issuer, audiences: [clientId], keys, now });
  const fetch = createFetch(outbound);
  let known: { readonly configuration: Promise<Configuration>; readonly readAt: number } | undefined;

  const read = async (): Promise<Configuration> => {
    const metadata = await provider.readMetadata();
    for (const name of ['authorization_endpoint', 'token_endpoint']) requireUrl(metadata, name, allowedHosts);
    const authentication = clientSecret === undefined ? None() : ClientSecretPost(clientSecret);
    const configuration = new Configuration(metadata as ServerMetadata, clientId, {}, authentication);
    configuration[customFetch] = fetch;
    // What may be reached without TLS has been judged above (S5).
    if (allowedHosts !== '') allowInsecureRequests(configuration);
    return configuration;
  };
  const configure = async (): Promise<Configuration> => {
    if (known === undefined || now() - known.readAt >= metadataMs) {
      const configuration = read();
      known = { configuration, readAt: now() };
      configuration.catch(() => (known = undefined));
    }
    return known.configuration.catch((error: unknown) => {
      throw unavailable('The identity provider cannot be asked', { cause: error });
    });
  };

  return {
    begin: async (redirectUri) => {
      const configuration = await configure();
      const kept = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri };
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: kept.state,
        nonce: kept.nonce,
        code_challenge: await calculatePKCECodeChallenge(kept.verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, kept: await sealer.seal(kept) };
    },
    finish: async (query, sealed) => {
      const kept = sealed === undefined ? undefined : await sealer.open(sealed);
      if (kept === undefined) throw refused();
      const back = new URL(kept.redirectUri);
      back.search = query;
      const configuration = await configure();
      const checks = { expectedState: kept.state, expectedNonce: kept.nonce, pkceCodeVerifier: kept.verifier, idTokenExpected: true };
      const tokens = await authorizationCodeGrant(configuration, back, checks).catch((error: unknown) => {
        throw isAway(error) ? unavailable('The identity provider cannot be asked', { cause: error }) : refused(error);
      });
      // The library trusts the connection; we hold the signature against the provider's keys, by the same rules as every token.
      return (await verifier.verify(tokens.id_token ?? '')).identity;
    },
  };
}

/** Requests of the library through the one client for outgoing calls. */
function createFetch(outbound: Outbound): CustomFetch {
  return async (url, { method, headers, body }) => {
    const reply = await outbound.request({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      headers,
      ...(body instanceof URLSearchParams || typeof body === 'string' ? { body: String(body) } : {}),
      timeoutMs,
    });
    const text = await reply.text();
    return new Response(text === '' ? null : text, { status: reply.status, headers: reply.headers });
  };
}

function requireUrl(metadata: ProviderMetadata, name: string, allowedHosts: string): void {
  const url = metadata[name];
  if (typeof url !== 'string' || findUrlProblem(url, allowedHosts) !== undefined) {
    throw new Error(`the discovery document has no ${name} that may be asked`);
  }
}

function refused(cause?: unknown): AppError {
  return new AppError({ code: 'unauthenticated', message: 'The sign-in was not completed.' }, { cause });
}

function isAway(error: unknown): boolean {
  if (error instanceof OutboundError) return true;
  if (!(error instanceof Error)) return false;
  const { status } = error as { status?: unknown };
  return (typeof status === 'number' && status >= 500) || isAway(error.cause);
}
