/**
 * An identity provider as described by its discovery document. All responses are bounded in size and validated before
 * use.
 */
import { type Outbound, namesHost } from '#libs/infrastructure/outbound';
import { isJsonObject } from '#libs/infrastructure/json';
import { ProviderError } from './sign-in-error.ts';

export interface Provider {
  readonly issuer: string;
  /** Fetches the discovery document. @throws Error, OutboundError when it is unavailable or unusable */
  readMetadata(signal?: AbortSignal): Promise<ProviderMetadata>;
  /** Fetches the public keys of its tokens. @throws as `readMetadata` */
  readKeys(): Promise<{ keys: Record<string, unknown>[] }>;
}

export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly [name: string]: unknown;
}

export interface ProviderOptions {
  readonly issuer: string;
  readonly outbound: Outbound;
  /** Value of OUTBOUND_ALLOWED_HOSTS: these hosts may be reached without TLS (S5). */
  readonly allowedHosts: string;
}

/** Timeout for the discovery document and the keys together; requests with a token wait until both are read. */
const timeoutMs = 4_000;
const maxBytes = 512 * 1024;
const maxKeys = 100;

export function createProvider({ issuer, outbound, allowedHosts }: ProviderOptions): Provider {
  const readJson = async (url: string, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> => {
    const reply = await outbound.request({ url, headers: { accept: 'application/json' }, maxBytes, signal });
    if (reply.status !== 200) {
      reply.discard();
      const failure = reply.status >= 500 || reply.status === 429 ? 'away' : 'misconfigured';
      throw new ProviderError(
        { failure, detail: `status_${reply.status}` },
        `${new URL(url).origin} answers ${reply.status}`,
      );
    }
    const body = parseObject(await reply.text());
    if (body === undefined)
      throw new ProviderError(
        { failure: 'away', detail: 'no_json' },
        `${new URL(url).origin} does not answer a JSON object`,
      );
    return body;
  };

  const readMetadata = async (signal = AbortSignal.timeout(timeoutMs)): Promise<ProviderMetadata> => {
    const document = await readJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal);
    const { issuer: named, jwks_uri: keysUrl } = document;
    if (named !== issuer)
      throw new ProviderError(
        ofDocument('issuer'),
        'the discovery document names another issuer: OIDC_ISSUER must match it exactly',
      );
    if (typeof keysUrl !== 'string' || findUrlProblem(keysUrl, allowedHosts) !== undefined) {
      throw new ProviderError(ofDocument('jwks_uri'), 'the discovery document has no jwks_uri that may be asked');
    }
    return { ...document, issuer, jwks_uri: keysUrl };
  };

  return {
    issuer,
    readMetadata,
    readKeys: async () => {
      const signal = AbortSignal.timeout(timeoutMs);
      const { keys } = await readJson((await readMetadata(signal)).jwks_uri, signal);
      if (!Array.isArray(keys) || keys.length > maxKeys)
        throw new Error(`the provider has no list of at most ${maxKeys} keys`);
      return { keys: keys.filter((key: unknown): key is Record<string, unknown> => isJsonObject(key)) };
    },
  };
}

const ofDocument = (detail: string) => ({ failure: 'misconfigured', detail }) as const;

/**
 * Checks that the document contains the endpoint and that its URL is allowed.
 * @throws ProviderError
 */
export function requireEndpoint(metadata: ProviderMetadata, name: string, allowedHosts: string): void {
  if (!hasEndpoint(metadata, name, allowedHosts))
    throw new ProviderError(ofDocument(name), `the discovery document has no ${name} that may be asked`);
}

export function hasEndpoint(metadata: ProviderMetadata, name: string, allowedHosts: string): boolean {
  const url = metadata[name];
  return typeof url === 'string' && findUrlProblem(url, allowedHosts) === undefined;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isJsonObject(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

/** Returns why a URL is not allowed for an identity provider; undefined when it is allowed (S5). */
export function findUrlProblem(text: string, allowedHosts: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'must be a URL that starts with https://';
  if (url.username !== '' || url.password !== '' || url.hash !== '') return 'must have no user, password or fragment';
  if (url.protocol === 'http:' && !namesHost(allowedHosts, url)) {
    return 'must start with https://, unless OUTBOUND_ALLOWED_HOSTS names its host';
  }
  return undefined;
}
