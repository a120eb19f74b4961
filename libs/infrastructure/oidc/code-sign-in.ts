/**
 * Browser sign-in by the code flow with PKCE (S3), for the console. `begin` returns the URL to redirect to and a cookie
 * value; `finish` takes the callback URL and that value and returns the signed-in identity. The cookie must reach the
 * callback URL, so it is `SameSite=Lax`, `HttpOnly` and short-lived; its content is encrypted. The directory maps the
 * identity to an account (`identities.sign-in`). `endSession` returns the URL that ends the session at the provider.
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
import type { Outbound } from '#libs/infrastructure/outbound';
import { hasEndpoint, type Provider, requireEndpoint } from './provider.ts';
import { createSealer } from './sealer.ts';
import { explainFailure, SignInError } from './sign-in-error.ts';
import type { SigningKeys } from './signing-keys.ts';
import { createVerifier, type Identity, readVerifiedEmail } from './verifier.ts';

/** Result of a sign-in. */
export interface SignedIn {
  readonly identity: Identity;
  /** Why the provider did not return the requested email; can explain why no account was found. Undefined otherwise. */
  readonly withoutEmail: SignInError | undefined;
  /**
   * Cookie value that identifies the session for sign-out at the provider; undefined when it is too long for a cookie.
   */
  readonly retainedForEnd: string | undefined;
}

export interface CodeSignIn {
  /**
   * Starts a sign-in.
   * @param redirectUri callback URL, as registered at the provider
   * @param promptsAgain whether the provider prompts for credentials although the browser has a session there
   * @returns `url` to redirect to, `state` that the callback URL will contain, and the cookie value `stored`
   * @throws SignInError
   */
  begin(
    redirectUri: string,
    promptsAgain?: boolean,
  ): Promise<{ readonly url: string; readonly state: string; readonly stored: string }>;
  /**
   * Completes a sign-in.
   * @param query query of the callback URL
   * @param kept `stored` from `begin`; undefined when the browser sent no cookie
   * @throws SignInError when another browser started the flow, access was denied, or the values do not match
   */
  finish(query: string, kept: string | undefined): Promise<SignedIn>;
  /**
   * Returns the provider's sign-out URL; undefined when the provider does not have one or is unavailable.
   * @param returnUri URL to return to, as registered at the provider
   * @param kept `retainedForEnd` of the sign-in
   */
  endSession(returnUri: string, kept: string | undefined): Promise<string | undefined>;
}

export interface CodeSignInOptions {
  readonly provider: Provider;
  readonly keys: SigningKeys;
  readonly outbound: Outbound;
  readonly allowedHosts: string;
  readonly clientId: string;
  /**
   * Client secret issued by the provider. Without a secret, only PKCE proves that both requests are from the same
   * client.
   */
  readonly clientSecret?: string | undefined;
  /** Secret of the installation, the same in every replica; the encryption key of the cookies is derived from it. */
  readonly secret: string;
  /** Returns epoch milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** Seconds that a person has to sign in at the provider. */
export const signInSeconds = 600;
/** Milliseconds until the discovery document is read again. */
const metadataMs = 10 * 60_000;
const timeoutMs = 10_000;

/** Maximum lifetime of a session in seconds (S3). */
const sessionSeconds = 86_400;
/** Maximum length of an encrypted ID token. Browsers limit a cookie with name and attributes to 4,096 bytes. */
const maxRetainedForEnd = 3_800;

type StoredSignIn = Readonly<Record<'state' | 'nonce' | 'verifier' | 'redirectUri', string>>;

export function createCodeSignIn(options: CodeSignInOptions): CodeSignIn {
  const { keys, clientId, secret, now = () => Date.now() } = options;
  const sealer = createSealer<StoredSignIn>({ secret, purpose: 'sign-in', lifeSeconds: signInSeconds, now });
  const endSealer = createSealer<{ idToken: string }>({
    secret,
    purpose: 'sign-out',
    lifeSeconds: sessionSeconds,
    now,
  });
  const verifier = createVerifier({ issuer: options.provider.issuer, audiences: [clientId], keys, now });
  const configure = createConfigure(options, now);

  return {
    begin: async (redirectUri, promptsAgain = false) => {
      const configuration = await configure();
      const stored = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), redirectUri };
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: stored.state,
        nonce: stored.nonce,
        code_challenge: await calculatePKCECodeChallenge(stored.verifier),
        code_challenge_method: 'S256',
        ...(promptsAgain ? { prompt: 'login' } : {}),
      });
      return { url: url.href, state: stored.state, stored: await sealer.seal(stored) };
    },
    finish: async (query, sealed) => {
      const stored = sealed === undefined ? undefined : await sealer.open(sealed);
      if (stored === undefined) throw new SignInError({ failure: 'refused', detail: 'state' });
      const back = new URL(stored.redirectUri);
      back.search = query;
      const configuration = await configure();
      const checks = {
        expectedState: stored.state,
        expectedNonce: stored.nonce,
        pkceCodeVerifier: stored.verifier,
        idTokenExpected: true,
      };
      try {
        const tokens = await authorizationCodeGrant(configuration, back, checks);
        const idToken = tokens.id_token ?? '';
        // The library trusts the connection and does not check the signature; `verify` checks it with the provider's
        // keys, by the same rules as for every token.
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

/**
 * Returns a function that configures the library from the discovery document and re-reads the document periodically.
 */
function createConfigure(options: CodeSignInOptions, now: () => number): () => Promise<Configuration> {
  const { provider, outbound, allowedHosts, clientId, clientSecret } = options;
  const fetch = createFetch(outbound);
  let known: { readonly configuration: Promise<Configuration>; readonly readAt: number } | undefined;

  const read = async (): Promise<Configuration> => {
    const metadata = await provider.readMetadata();
    for (const name of ['authorization_endpoint', 'token_endpoint']) requireEndpoint(metadata, name, allowedHosts);
    const optional = ['userinfo_endpoint', 'end_session_endpoint'].filter(
      (name) => !hasEndpoint(metadata, name, allowedHosts),
    );
    const usable = Object.fromEntries(Object.entries(metadata).filter(([name]) => !optional.includes(name)));
    const authentication = clientSecret === undefined ? None() : ClientSecretPost(clientSecret);
    const configuration = new Configuration(usable as unknown as ServerMetadata, clientId, {}, authentication);
    configuration[customFetch] = fetch;
    // The endpoints were checked above: only hosts in `allowedHosts` can be used without TLS (S5).
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
 * Requests the email from `userinfo_endpoint`, since providers may omit claims in the ID token. Sends one request and
 * accepts the response for the same subject only. If the request fails, the sign-in continues without the email.
 * @throws when the response is for another subject
 */
async function requestEmail(
  configuration: Configuration,
  accessToken: string,
  identity: Identity,
  claims: Readonly<Record<string, unknown>>,
): Promise<Pick<SignedIn, 'identity' | 'withoutEmail'>> {
  const isWhole = claims['email'] !== undefined && claims['email_verified'] !== undefined;
  if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined)
    return { identity, withoutEmail: undefined };
  try {
    const reported = await fetchUserInfo(configuration, accessToken, identity.subject);
    const isOfOther = claims['email'] !== undefined && claims['email'] !== reported.email;
    return {
      identity: { ...identity, verifiedEmail: isOfOther ? undefined : readVerifiedEmail(reported) },
      withoutEmail: undefined,
    };
  } catch (error) {
    const withoutEmail = explainFailure(error);
    if (withoutEmail.detail === 'sub') throw error;
    return { identity, withoutEmail };
  }
}

/** Sends the library's requests through the shared outbound client. */
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
