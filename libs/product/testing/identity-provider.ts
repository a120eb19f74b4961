/** A certified OpenID provider for tests (`identity-provider-process.ts`), and a browser that signs people in at it. */
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { PlayedAnswer, ProviderCommand } from './identity-provider-process.ts';
import { startScriptProcess } from './script-process.ts';

type Claims = Readonly<Record<string, unknown>>;

export interface IdentityProvider {
  readonly issuer: string;
  /** Audience of tokens for our API. */
  readonly audience: string;
  /** Host and port for OUTBOUND_ALLOWED_HOSTS, because the provider does not use TLS. */
  readonly host: string;
  /** Creates new keys and stops publishing the old ones. */
  rotate(): Promise<void>;
  /** Closes the port; `return` opens it again. */
  disconnect(): Promise<void>;
  return(): Promise<void>;
  /** Sets the status of every response; null = normal responses. */
  fail(status: number | null): Promise<void>;
  /** Replaces the response of one path; null: restores the provider's own response. */
  answer(path: string, answer: PlayedAnswer | null): Promise<void>;
  /** Makes the provider return the email only at `userinfo_endpoint`, not in ID tokens. Changes the keys. */
  keepEmailFromIdTokens(isSo: boolean): Promise<void>;
  /** Returns the number of requests by path since the last call. */
  countRequests(): Promise<Readonly<Record<string, number>>>;
  /** Returns the number of requests for the provider's keys since the last call. */
  countReads(): Promise<number>;
  /** Sets the claims about a subject. */
  describe(subject: string, claims: Claims): Promise<void>;
  /** Returns a JWT of the provider. These claims are merged over valid ones; `undefined` removes a claim. */
  sign(claims?: Claims, header?: Claims): Promise<string>;
  /** Returns an access token for our API, as an app receives it by the code flow. */
  accessToken(subject: string): Promise<string>;
  /**
   * Signs the subject in at the authorization URL, or confirms the code of a device at its verification URL. Returns the
   * URL to which the browser is redirected, or of the last page.
   */
  signIn(authorizationUrl: string, subject: string): Promise<string>;
  stop(): Promise<void>;
}

/** Redirect URI of the console. */
export const consoleRedirectUri = 'http://127.0.0.1:8080/console/sign-in/callback';
const consoleUri = 'http://127.0.0.1:8080/console';
export const consoleClientId = 'console';
export const confidentialClientId = 'console-with-secret';
export const confidentialClientSecret = 'a-secret-of-the-console-of-the-tests';
/** A public client that may use the device flow. */
export const deviceClientId = 'cli';
const appClientId = 'app';
const appRedirectUri = 'http://127.0.0.1:8085/callback';
const audience = 'https://api.coherence.example.org';

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const publicClient = {
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  };
  const clients = [
    // A native client: the provider accepts every port of the loopback address in its redirect URI.
    {
      ...publicClient,
      client_id: consoleClientId,
      application_type: 'native',
      redirect_uris: [consoleRedirectUri],
      post_logout_redirect_uris: [consoleUri],
    },
    {
      client_id: confidentialClientId,
      client_secret: confidentialClientSecret,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      redirect_uris: [consoleRedirectUri],
    },
    { ...publicClient, client_id: appClientId, redirect_uris: [appRedirectUri] },
    {
      ...publicClient,
      client_id: deviceClientId,
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'],
      response_types: [],
      redirect_uris: [],
    },
  ];
  const script = startScriptProcess(join(import.meta.dirname, 'identity-provider-process.ts'), {
    IDENTITY_PROVIDER: JSON.stringify({ audience, clients }),
  });
  const issuer = await script.waitForMessage((message) => (message as { issuer?: string }).issuer);
  let requests = 0;
  const request = async (command: ProviderCommand): Promise<unknown> => {
    const id = ++requests;
    script.send({ id, command });
    type Answer = { id: number; value?: unknown; error?: string };
    const answer = await script.waitForMessage((message) =>
      (message as Answer).id === id ? (message as Answer) : undefined,
    );
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  };
  const notify = async (command: ProviderCommand): Promise<void> => void (await request(command));

  return {
    issuer,
    audience,
    host: new URL(issuer).host,
    rotate: () => notify({ do: 'rotate' }),
    disconnect: () => notify({ do: 'leave' }),
    return: () => notify({ do: 'return' }),
    fail: (status) => notify({ do: 'fail', status }),
    answer: (path, answer) => notify({ do: 'answer', path, answer }),
    keepEmailFromIdTokens: (isSo) => notify({ do: 'email-at-userinfo', isSo }),
    countRequests: async () => (await request({ do: 'count' })) as Record<string, number>,
    countReads: async () => ((await request({ do: 'count' })) as Record<string, number>)['/jwks'] ?? 0,
    describe: (subject, claims) => notify({ do: 'claims', subject, claims }),
    sign: async (claims = {}, header = {}) => {
      const now = Math.floor(Date.now() / 1000);
      const usual = { iss: issuer, aud: audience, sub: 'somebody', iat: now, exp: now + 600 };
      return String(
        await request({ do: 'sign', header: { alg: 'RS256', typ: 'JWT', ...header }, claims: { ...usual, ...claims } }),
      );
    },
    accessToken: (subject) => getAccessToken(issuer, subject),
    signIn: followSignIn,
    stop: async () => {
      script.signal('SIGKILL');
      await script.ended;
    },
  };
}

async function getAccessToken(issuer: string, subject: string): Promise<string> {
  const verifier = randomBytes(32).toString('base64url');
  const url = new URL(`${issuer}/auth`);
  url.search = new URLSearchParams({
    client_id: appClientId,
    redirect_uri: appRedirectUri,
    response_type: 'code',
    scope: 'openid email',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }).toString();
  const code = new URL(await followSignIn(url.href, subject)).searchParams.get('code') ?? '';
  const body = {
    grant_type: 'authorization_code',
    code,
    client_id: appClientId,
    redirect_uri: appRedirectUri,
    code_verifier: verifier,
  };
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(body) });
  const { access_token: token } = (await answer.json()) as { access_token?: string };
  if (token === undefined) throw new Error(`the provider gave no token: ${answer.status}`);
  return token;
}

/**
 * Follows redirects with cookies, through the provider's sign-in and consent pages. Returns the first URL on another
 * site, or of the page that confirms the sign-in of a device.
 */
async function followSignIn(authorizationUrl: string, subject: string): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const jar = new Map<string, string>();
  let url = authorizationUrl;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12; step++) {
    const answer = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      ...(form === undefined ? {} : { body: form }),
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    form = undefined;
    if (location !== null) {
      url = new URL(location, url).href;
      if (new URL(url).origin !== origin) return url;
      continue;
    }
    const page = await answer.text();
    if (page.includes('<title>Sign-in Success</title>')) return url;
    const [, action] = /<form[^<>]* action="([^"]+)"/.exec(page) ?? [];
    if (action === undefined) throw new Error(`the provider shows no form: ${answer.status} ${page.slice(0, 500)}`);
    url = new URL(action, url).href;
    form = new URLSearchParams(page.includes('value="login"') ? { login: subject, password: 'x' } : {});
    for (const [, name = '', value = ''] of page.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g))
      form.set(name, value);
  }
  throw new Error('the provider sends the browser round in a circle');
}
