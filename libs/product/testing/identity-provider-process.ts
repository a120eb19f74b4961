/**
 * Runs an OpenID provider (the certified `oidc-provider`) in a separate process. The parent process controls it: it can
 * change its keys, close its port, and sign tokens that a real provider would not sign.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT } from 'jose';
import Provider, { type ClientMetadata, type Configuration, type JWK } from 'oidc-provider';

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

export interface PlayedAnswer {
  readonly status: number;
  readonly body: string;
  readonly type?: string;
}

/** Commands of the parent process; each is answered by `{id, value}`. */
export type ProviderCommand =
  /** Creates new keys and stops publishing the old ones. */
  | { readonly do: 'rotate' }
  /** Closes the port. */
  | { readonly do: 'leave' }
  | { readonly do: 'return' }
  /** Returns the number of requests for the discovery document and for the keys since the last call. */
  | { readonly do: 'count' }
  | { readonly do: 'fail'; readonly status: number | null }
  /** Replaces the response of one path; null: restores the provider's own response. */
  | { readonly do: 'answer'; readonly path: string; readonly answer: PlayedAnswer | null }
  /** Makes ID tokens omit the email, as in strict OpenID Connect. Also changes the keys. */
  | { readonly do: 'email-at-userinfo'; readonly isSo: boolean }
  | { readonly do: 'claims'; readonly subject: string; readonly claims: Readonly<Record<string, unknown>> }
  /** Returns a JWT with this header and these claims, signed with the provider's key for the algorithm. */
  | {
      readonly do: 'sign';
      readonly header: Readonly<Record<string, unknown>>;
      readonly claims: Readonly<Record<string, unknown>>;
    };

export interface Settings {
  readonly audience: string;
  readonly clients: readonly ClientMetadata[];
}

// Suppresses the startup warnings about production use.
console.info = console.warn = () => undefined;

const settings = JSON.parse(process.env['IDENTITY_PROVIDER'] ?? '{}') as Settings;
const people = new Map<string, Readonly<Record<string, unknown>>>();
const played = {
  generation: 0,
  keys: {} as Readonly<Record<string, Key>>,
  answer: ((_request, response) => response.destroy()) as RequestListener,
  /** Number of requests by path. */
  counts: new Map<string, number>(),
  /** Status of every response; null: normal responses. */
  failure: null as number | null,
  /** Responses that replace the provider's own, by path. */
  answers: new Map<string, PlayedAnswer>(),
  hasEmailAtUserInfoAlone: false,
  server: createServer(),
  port: 0,
};

function makeKeys(): void {
  played.generation += 1;
  const { generation } = played;
  const rsa = { kid: `rsa-${generation}`, privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey };
  const ec = (namedCurve: string): Key => ({
    kid: `${namedCurve}-${generation}`,
    privateKey: generateKeyPairSync('ec', { namedCurve }).privateKey,
  });
  const ed = { kid: `ed-${generation}`, privateKey: generateKeyPairSync('ed25519').privateKey };
  played.keys = {
    ...Object.fromEntries(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'].map((alg) => [alg, rsa])),
    ES256: ec('P-256'),
    ES384: ec('P-384'),
    ES512: ec('P-521'),
    EdDSA: ed,
    Ed25519: ed,
  };
  const configuration: Configuration = {
    jwks: {
      keys: [...new Set(Object.values(played.keys))].map(({ kid, privateKey }) => ({
        ...(privateKey.export({ format: 'jwk' }) as JWK),
        kid,
        use: 'sig',
      })),
    },
    clients: settings.clients.map((client) => ({ ...client })),
    claims: { email: ['email', 'email_verified'] },
    conformIdTokenClaims: played.hasEmailAtUserInfoAlone,
    cookies: { keys: ['a key of the tests'] },
    findAccount: (_ctx, subject) => ({ accountId: subject, claims: () => ({ sub: subject, ...people.get(subject) }) }),
    extraTokenClaims: (_ctx, token) => ({ ...people.get('accountId' in token ? token.accountId : '') }),
    features: {
      deviceFlow: { enabled: true },
      resourceIndicators: {
        // Disabled when only `userinfo_endpoint` returns the email, because a token for our API is not valid at this
        // endpoint.
        enabled: !played.hasEmailAtUserInfoAlone,
        defaultResource: () => settings.audience,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'openid email',
          audience: settings.audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
  };
  const answer = new Provider(`http://127.0.0.1:${played.port}`, configuration).callback();
  played.answer = (request, response) => void answer(request, response);
}

function listen(): Promise<void> {
  played.server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://provider');
    played.counts.set(pathname, (played.counts.get(pathname) ?? 0) + 1);
    const own = played.answers.get(pathname);
    if (own !== undefined)
      response.writeHead(own.status, { 'content-type': own.type ?? 'application/json' }).end(own.body);
    else if (played.failure === null) played.answer(request, response);
    else response.writeHead(played.failure).end();
  });
  return new Promise((done) => played.server.listen(played.port, '127.0.0.1', () => done()));
}

function disconnect(): Promise<void> {
  played.server.closeAllConnections();
  return new Promise((done) => played.server.close(() => done()));
}

async function grant(command: ProviderCommand): Promise<unknown> {
  if (command.do === 'rotate') makeKeys();
  if (command.do === 'leave') await disconnect();
  if (command.do === 'return') await listen();
  if (command.do === 'fail') played.failure = command.status;
  if (command.do === 'answer' && command.answer === null) played.answers.delete(command.path);
  else if (command.do === 'answer' && command.answer !== null) played.answers.set(command.path, command.answer);
  if (command.do === 'email-at-userinfo') {
    played.hasEmailAtUserInfoAlone = command.isSo;
    makeKeys();
  }
  if (command.do === 'claims') people.set(command.subject, command.claims);
  if (command.do === 'count') {
    const seen = Object.fromEntries(played.counts);
    played.counts.clear();
    return seen;
  }
  if (command.do !== 'sign') return null;
  const key = played.keys[String(command.header['alg'])];
  if (key === undefined) throw new Error('There is no key for that algorithm');
  const header = { kid: key.kid, ...command.header, alg: String(command.header['alg']) };
  return new SignJWT({ ...command.claims }).setProtectedHeader(header).sign(key.privateKey);
}

process.on('message', ({ id, command }: { id: number; command: ProviderCommand }) => {
  grant(command).then(
    (value) => process.send?.({ id, value }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());

await listen();
played.port = (played.server.address() as AddressInfo).port;
makeKeys();
process.send?.({ issuer: `http://127.0.0.1:${played.port}` });
