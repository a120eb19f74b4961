/** Queries a registry for an image (OCI Distribution Specification 1.1). */
import { createHash } from 'node:crypto';
import { type ImageReference, formatReference } from './references.ts';

export type Finding =
  | {
      state: 'found';
      digest: string;
      /** `os/architecture` of each platform for which the image exists. */ platforms: string[];
    }
  | { state: 'missing'; reason: string }
  /** The registry could not be reached, or its response was invalid. */
  | { state: 'unknown'; reason: string };

export interface RegistryOptions {
  /** `http(s)://host[:port][/path]` of a mirror to query instead of the image's registry. */
  from?: string | undefined;
  /** `user:password` for the registry that is queried. */
  credentials?: string | undefined;
}

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const timeoutMs = 30_000;

interface Manifest {
  manifests?: { platform?: { os: string; architecture: string } }[];
}

export async function findImage(image: ImageReference, options: RegistryOptions = {}): Promise<Finding> {
  const url = manifestUrl(image, options.from);
  try {
    const response = await fetchPath(url, options.credentials);
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status === 404) return { state: 'missing', reason: `${url.host} knows no ${formatReference(image)}` };
    if (response.status === 401 || response.status === 403)
      return {
        state: 'missing',
        reason: `${url.host} has no such image, or not for everybody (status ${response.status})`,
      };
    if (!response.ok) return { state: 'unknown', reason: `${url.host} answered with status ${response.status}` };
    const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
    const declared = response.headers.get('docker-content-digest');
    if (declared !== null && declared !== digest)
      return { state: 'unknown', reason: `${url.host} says ${declared}, but what it sent is ${digest}` };
    return { state: 'found', digest, platforms: listPlatforms(JSON.parse(body.toString('utf8')) as Manifest) };
  } catch (error) {
    const { cause, message } = error as Error;
    return {
      state: 'unknown',
      reason: `${url.host} cannot be reached from here (${cause instanceof Error ? cause.message : message})`,
    };
  }
}

function manifestUrl({ registry, repository, tag }: ImageReference, from: string | undefined): URL {
  const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  const base = new URL(from ?? `https://${host}`);
  const path = base.pathname.replace(/\/$/, '');
  return new URL(`/v2${path}/${repository}/manifests/${tag}`, base);
}

/** Fetches a path, and repeats the request with the token or the credentials that the registry requires. */
async function fetchPath(url: URL, credentials: string | undefined): Promise<Response> {
  const send = (to: URL, authorization?: string): Promise<Response> => {
    const headers = { accept: manifestTypes, ...(authorization === undefined ? {} : { authorization }) };
    return fetch(to, { headers, signal: AbortSignal.timeout(timeoutMs) });
  };
  const basic = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const first = await send(url);
  if (first.status !== 401) return first;
  const challenge = first.headers.get('www-authenticate') ?? '';
  const realm = readParameter(challenge, 'realm');
  await first.body?.cancel();
  if (!/^bearer /i.test(challenge) || realm === undefined) return send(url, basic);
  const tokenUrl = new URL(realm);
  for (const name of ['service', 'scope']) tokenUrl.searchParams.set(name, readParameter(challenge, name) ?? '');
  const reply = await send(tokenUrl, basic);
  if (!reply.ok) return reply;
  const { token, access_token: accessToken } = (await reply.json()) as { token?: string; access_token?: string };
  return send(url, `Bearer ${token ?? accessToken}`);
}

function readParameter(challenge: string, name: string): string | undefined {
  return new RegExp(`${name}="([^"]*)"`).exec(challenge)?.[1];
}

function listPlatforms({ manifests = [] }: Manifest): string[] {
  const known = manifests.flatMap(({ platform }) =>
    platform === undefined ? [] : [`${platform.os}/${platform.architecture}`],
  );
  return [...new Set(known)].filter((name) => name !== 'unknown/unknown').toSorted();
}
