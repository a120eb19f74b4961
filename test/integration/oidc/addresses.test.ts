/**
 * An identity provider whose responses point to internal addresses: the platform does not connect to them
 * (architecture#outgoing-calls; S5).
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createCodeSignIn, createProvider, createSigningKeys } from '#libs/infrastructure/oidc';
import { createOutbound, type Outbound } from '#libs/infrastructure/outbound';
import { type InnerServer, startInnerServer } from '#libs/product/testing';

const redirectUri = 'https://coherence.example.org/console/sign-in/callback';

let inner: InnerServer;
let server: Server;
let outbound: Outbound;
let issuer: string;
/** Operator setting: allows this host with this port, and nothing else of the machine. */
let allowedHosts: string;
/** Additional members of the discovery document. */
let named: Readonly<Record<string, string>>;
/** Paths that respond with a redirect. */
let redirected: readonly string[];
beforeAll(async () => {
  inner = await startInnerServer();
  server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? '';
    if (redirected.includes(path))
      return response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/redirected` }).end();
    const usual = {
      issuer,
      jwks_uri: `${issuer}/jwks`,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
    };
    return response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify(path === '/jwks' ? { keys: [] } : { ...usual, ...named }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  allowedHosts = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  issuer = `http://${allowedHosts}`;
  outbound = createOutbound({ allowedHosts, baseUrls: [issuer] });
});
beforeEach(() => {
  named = {};
  redirected = [];
});
afterAll(async () => {
  await outbound.close();
  await inner.stop();
  server.closeAllConnections();
  server.close();
});

const createAsked = () => createProvider({ issuer, outbound, allowedHosts });
const place = (address: string): string => address.replace('PORT', String(inner.port));

/** Signs in with a browser response as the provider would send it, and returns the outcome. */
async function signIn(): Promise<string> {
  const provider = createAsked();
  const options = {
    provider,
    keys: createSigningKeys({ provider }),
    outbound,
    allowedHosts,
    clientId: 'console',
    secret: 'a secret',
  };
  const flow = createCodeSignIn(options);
  try {
    const { url, stored: kept } = await flow.begin(redirectUri);
    await flow.finish(`?code=x&state=${new URL(url).searchParams.get('state')}`, kept);
    return 'signed in';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  }
}

/** Spellings of an internal address; `PORT` is replaced by the port of the server there. */
const addresses = [
  'http://127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'https://localhost:PORT/',
  'https://[::1]:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://2130706433:PORT/',
  'https://0:PORT/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00:ec2::254]/latest/meta-data/',
  'https://user:pass@127.0.0.1:PORT/',
  'file:///etc/passwd',
];

describe('URLs in the documents of an identity provider (S5)', () => {
  it.each(addresses)('does not request signing keys from %s', async (address) => {
    expect(await createAsked().readKeys()).toEqual({ keys: [] });
    named = { jwks_uri: place(address) };
    await expect(createAsked().readKeys()).rejects.toThrow(/has no jwks_uri that may be asked|is not public/);
    expect(inner.seen).toEqual([]);
  });

  it.each(addresses)('sends neither code nor secret to the token endpoint at %s', async (address) => {
    named = { token_endpoint: place(address) };
    // An address that is rejected by its text is reported as an error in the provider's document. An address that
    // resolves to an internal host makes the token exchange fail.
    const isExcluded = !address.startsWith('https:') || address.includes('@');
    expect([await signIn(), inner.seen]).toEqual([isExcluded ? 'unavailable' : 'unauthenticated', []]);
  });

  it.each(['/.well-known/openid-configuration', '/jwks'])(
    'does not follow a redirect of the identity provider from %s',
    async (path) => {
      redirected = [path];
      await expect(createAsked().readKeys()).rejects.toThrow(`${issuer} answers 307`);
      expect(inner.seen).toEqual([]);
    },
  );

  it('does not follow a redirect from the token endpoint', async () => {
    redirected = ['/token'];
    expect([await signIn(), inner.seen]).toEqual(['unavailable', []]);
  });
});
