/**
 * Environment of started processes: basic variables and the variables that the process declares. Other variables of the
 * caller are not passed on, so that a process receives only the secrets that it needs.
 */
import { readServiceSettings } from './service-settings.ts';

type Variables = Readonly<Record<string, string | undefined>>;

const basics = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'LC_ALL', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
const basicsOfNode = ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'NODE_COMPILE_CACHE', 'NODE_V8_COVERAGE'];

/**
 * Settings of malloc, as in the Dockerfile. By default each thread caches freed blocks of any size: 19 MB in each
 * thread that has hashed a password. With a fixed threshold larger blocks are returned to the system immediately.
 */
const memoryOfServices = { MALLOC_MMAP_THRESHOLD_: '262144' };

/** Returns the variables of `env` that are set and have one of the names. */
export function pickVariables(env: Variables, names: Iterable<string>): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

/** Returns the environment of a program that is not part of the platform. */
export function pickBasics(env: Variables = process.env): Record<string, string> {
  return pickVariables(env, [...basics, ...basicsOfNode]);
}

let declared: Promise<ReadonlyMap<string, readonly string[]>> | undefined;

/**
 * Returns the environment of a service, from `env`: the basic variables and the settings of the service's schema.
 * @throws Error for an unknown service
 */
export async function environmentOfService(service: string, env: Variables): Promise<Record<string, string>> {
  declared ??= readServiceSettings().then(
    (all) => new Map(all.map((item) => [item.service, Object.keys(item.properties)])),
  );
  const names = (await declared).get(service);
  if (names === undefined) throw new Error(`There is no service ${service}.`);
  // Without configured keys, the SDK searches for object store credentials, so the variables that it reads are passed
  // on.
  const usesSdkCredentials = names.includes('S3_ACCESS_KEY_ID') && (env['S3_ACCESS_KEY_ID'] ?? '') === '';
  const ofClouds = usesSdkCredentials ? Object.keys(env).filter((name) => name.startsWith('AWS_')) : [];
  return { ...memoryOfServices, ...pickBasics(env), ...pickVariables(env, [...names, ...ofClouds]) };
}
