/**
 * The environment of a process that is started here: what any program may need, and what it declares. Nothing else of the caller's is passed
 * on, so that no process holds a secret that it has no use for.
 */
import { readServiceSettings } from './service-settings.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const basics = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const basicsOfNode = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'NODE_COMPILE_CACHE', 'NODE_V8_COVERAGE'];

/**
 * What the C library does with memory, as in the Dockerfile. By itself it comes to keep pieces of any size for the next one, in each of its threads:
 * 19 MB in each that has hashed a password. With a fixed limit larger ones go back to the system at once.
 */
const memoryOfServices = { MALLOC_MMAP_THRESHOLD_: '262144' };

/** Those variables of `env` that have one of the names and are set. */
export function pickVariables(env: Variables, names: Iterable<string>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** What a program that knows nothing of the platform gets. */
export function pickBasics(env: Variables = process.env): Record<string, string> {
  return pickVariables(env, [...basics, ...basicsOfNode]);
}

let declared: Promise<ReadonlyMap<string, readonly string[]>> | undefined;

/** What a service gets of `env`: the basics, and the settings of its schema. @throws Error for a service that does not exist */
export async function environmentOfService(service: string, env: Variables): Promise<Record<string, string>> {
  declared ??= readServiceSettings().then((all) => new Map(all.map((item) => [item.service, Object.keys(item.properties)])));
  const names = (await declared).get(service);
  if (names === undefined) throw new Error(`There is no service ${service}.`);
  // Without keys of its own the object store is asked with those that the SDK finds.
  const usesSdkCredentials = names.includes('S3_ACCESS_KEY_ID') && (env['S3_ACCESS_KEY_ID'] ?? '') === '';
  const ofClouds = usesSdkCredentials ? Object.keys(env).filter((name) => name.startsWith('AWS_')) : [];
  return { ...memoryOfServices, ...pickBasics(env), ...pickVariables(env, [...names, ...ofClouds]) };
}
