/**
 * Sign-in of a browser by the code flow with PKCE (S3), for the console: `begin` says where to send the browser and what to let it keep in a cookie,
 * `finish` takes the address to which it comes back, and what it kept, and says who has signed in. The cookie must reach the address that the provider sends
 * the browser back to, so it is `SameSite=Lax`, `HttpOnly` and short-lived; everything in it is sealed. Whoever is named becomes an account by the directory
 * (`identities.sign-in`). `endSession` says where to send the browser so that the provider forgets it, too.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  calculatePKCECodeChallenge,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import type { Outbound } from '#libs/outbound';
import { hasEndpoint, type Provider, requireEndpoint } from './provider.ts';
import { createSealer } from './sealer.ts';
import { explainFailure, SignInError } from './sign-in-error.ts';
import type { SigningKeys } from './signing-keys.ts';
import { createVerifier, type Identity, readVerifiedEmail } from './verifier.ts';

/** Who has signed in. */
export interface SignedIn {
  readonly identity: Identity;
  /** Why the provider did not say their email, though it was asked: that may be the reason when no account is theirs. */
  readonly withoutEmail: SignInError | undefined;
  /** What the browser keeps, so that the provider knows whose session is to end; undefined when it is too long for a cookie. */
  readonly retainedForEnd: string | undefined;
}

export interface CodeSignIn {
  /**
   * @param redirectUri where the provider sends the browser back to, as it is registered there
   * @param promptsAgain whether the provider is to ask for credentials although it knows the browser
   * @returns `state` names the flow in the address to which the browser comes back
   * @throws SignInFailed
   */
  begin(redirectUri: string, promptsAgain?: boolean): Promise<{ readonly url: string; readonly state: string; readonly kept: string }>;
  /**
   * @param query of the address to which the browser came back
   * @param kept what `begin` gave; undefined when the browser has brought nothing
   * @throws SignInFailed when this browser did not begin it, somebody said no, or anything does not fit
   */
  finish(query: string, kept: string | undefined): Promise<SignedIn>;
  /**
   * Where the browser ends its session at the provider; undefined when that has no such place, or cannot be asked.
   * @param returnUri where the provider sends the browser then, as it is registered there
   * @param kept `keptForEnd` of the sign-in
   */
  endSession(returnUri: string, kept: string | undefined): Promise<string | undefined>;
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

/** Of a session; then nothing of it is good for anything (S3). */
const sessionSeconds = 86_400;
/** Of a sealed ID token in a cookie, which has 4,096 bytes with its name and attributes. */
const maxRetainedForEnd = 3_800;

type StoredSignIn = Readonly<Record<'state' | 'nonce' | 'verifier' | 'redirectUri', string>>;

export function createCodeSignIn(options: CodeSignInOptions): CodeSignIn {
  const { keys, clientId, secret, now = () => Date.now() } = options;
  const sealer = createSealer<StoredSignIn>({ secret, purpose: 'sign-in', lifeSeconds: signInSeconds, now });
  const endSealer = createSealer<{ idToken: string }>({ secret, purpose: 'sign-out', lifeSeconds: sessionSeconds, now });
  const verifier = createVerifier({ issuer: options.provider.issuer, audiences: [clientId], keys, now });
  const configure = createConfigure(options, now);

  return {
    begin: async (redirectUri, asksAgain = false) => {
      const configuration = await configure();
      const stored = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri };
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: stored.state,
        nonce: stored.nonce,
        code_challenge: await calculatePKCECodeChallenge(stored.verifier),
        code_challenge_method: 'S256',
        ...(asksAgain ? { prompt: 'login' } : {}),
      });
      return { url: url.href, state: stored.state, kept: await sealer.seal(stored) };
    },
    finish: async (query, sealed) => {
      const stored = sealed === undefined ? undefined : await sealer.open(sealed);
      if (stored === undefined) throw new SignInError({ failure: 'refused', detail: 'state' });
      const back = new URL(stored.redirectUri);
      back.search = query;
      const configuration = await configure();
      const checks = { expectedState: stored.state, expectedNonce: stored.nonce, pkceCodeVerifier: stored.verifier, idTokenExpected: true };
      try {
        const tokens = await authorizationCodeGrant(configuration, back, checks);
        const idToken = tokens.id_token ?? '';
        // The library trusts the connection; we hold the signature against the provider's keys, by the same rules as every token.
        const { identity, claims } = await verifier.verify(idToken);
        const email = await requestEmail(configuration, tokens.access_token, identity, claims);
        const forEnd = await endSealer.seal({ idToken });
        return { ...email, retainedForEnd: forEnd.length > maxRetainedForEnd ? undefined : forEnd };
      } catch (error) {
        throw explainFailure(error);
      }
    },
    endSession: async (returnUri, sealed) => {
      const configuration = await configure().catch(() => undefined);
      if (configuration?.serverMetadata().end_session_endpoint === undefined) return undefined;
      const stored = sealed === undefined ? undefined : await endSealer.open(sealed);
      const hint = stored === undefined ? {} : { id_token_hint: stored.idToken };
      return buildEndSessionUrl(configuration, { post_logout_redirect_uri: returnUri, ...hint }).href;
    },
  };
}

/** The library's configuration by the discovery document, which is read again from time to time. */
function createConfigure(options: CodeSignInOptions, now: () => number): () => Promise<Configuration> {
  const { provider, outbound, allowedHosts, clientId, clientSecret } = options;
  const fetch = createFetch(outbound);
  let known: { readonly configuration: Promise<Configuration>; readonly readAt: number } | undefined;

  const read = async (): Promise<Configuration> => {
    const metadata = await provider.readMetadata();
    for (const name of ['authorization_endpoint', 'token_endpoint']) requireEndpoint(metadata, name, allowedHosts);
    const optional = ['userinfo_endpoint', 'end_session_endpoint'].filter((name) => !hasEndpoint(metadata, name, allowedHosts));
    const usable = Object.fromEntries(Object.entries(metadata).filter(([name]) => !optional.includes(name)));
    const authentication = clientSecret === undefined ? None() : ClientSecretPost(clientSecret);
    const configuration = new Configuration(usable as unknown as ServerMetadata, clientId, {}, authentication);
    configuration[customFetch] = fetch;
    // What may be reached without TLS has been judged above (S5).
    if (allowedHosts !== '') allowInsecureRequests(configuration);
    return configuration;
  };
  return () => {
    if (known === undefined || now() - known.readAt >= metadataMs) {
      const configuration = read();
      known = { configuration, readAt: now() };
      configuration.catch(() => (known = undefined));
    }
    return known.configuration.catch((error: unknown) => {
      const { failure, detail } = explainFailure(error);
      throw new SignInError({ failure, detail }, { cause: error, code: 'unavailable' });
    });
  };
}

/**
 * Providers may say at `userinfo_endpoint` alone what the ID token leaves out. It is asked once, and believed of the same subject only. Without an answer
 * the subject is still known.
 * @throws whatever speaks for another subject
 */
async function requestEmail(
  configuration: Configuration,
  accessToken: string,
  identity: Identity,
  claims: Readonly<Record<string, unknown>>,
): Promise<Pick<SignedIn, 'identity' | 'withoutEmail'>> {
  const isWhole = claims['email'] !== undefined && claims['email_verified'] !== undefined;
  if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return { identity, withoutEmail: undefined };
  try {
    const reported = await fetchUserInfo(configuration, accessToken, identity.subject);
    const isOfOther = claims['email'] !== undefined && claims['email'] !== reported.email;
    return { identity: { ...identity, verifiedEmail: isOfOther ? undefined : readVerifiedEmail(reported) }, withoutEmail: undefined };
  } catch (error) {
    const withoutEmail = explainFailure(error);
    if (withoutEmail.detail === 'sub') throw error;
    return { identity, withoutEmail };
  }
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
