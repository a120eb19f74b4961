import { type TSchema, Type } from '#libs/infrastructure/contract';
import { isRawNumber } from '#libs/infrastructure/json';

/**
 * Strength of secrets in production and wherever a service listens on more than the loopback address. On a developer's
 * machine anything is allowed, and `npm start` uses the values below.
 */

/** Secrets that `npm start` uses on the loopback address. */
export const demoValues = {
  API_TOKEN: 'demo-api-token',
  API_LOGIN_SECRET: 'demo-login-secret',
  /** Password of every account of the demo workspace. */
  DEMO_PASSWORD: 'coherence-demo-password',
} as const;

/** Publicly known values: the demo values above, and defaults of earlier releases, examples and servers. */
const publicValues: ReadonlySet<string> = new Set([
  ...Object.values(demoValues),
  ...['ada', 'ben', 'editor', 'admin'].map((name) => `${name}-demo-password`),
  'coherence-demo-secret',
  'coherence-evaluation',
  'coherence',
  'minioadmin',
  'postgres',
  'password',
  'changeme',
]);

/** Minimum length of a secret chosen by the operator. */
export const minSecretLength = 24;
/** Maximum values of one secret, accepted together during a rotation (K8). */
export const maxSecretValues = 4;
const remedy = 'make one with: npm run --silent cli -- secrets generate';

/** Returns all values that exposed installations reject. */
export const listPublicSecrets = (): string[] => [...publicValues].toSorted();

/** Returns true for a secret that is published in documents or defaults. */
export function isPublicSecret(text: string): boolean {
  return publicValues.has(text);
}

type Marked = TSchema & {
  writeOnly?: boolean;
  namesAccount?: boolean;
  chosenByUs?: boolean;
  neededUnless?: string;
  mostValues?: number;
  listensOn?: boolean;
};

/** Marks a setting as secret: the Helm chart reads it from a Secret. */
export function secret<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, writeOnly: true };
}

/** Marks an account name, which is stored with the secrets but is not secret. */
export function accountName<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, writeOnly: true, namesAccount: true };
}

/**
 * Marks a secret chosen by the operator. Exposed installations require a minimum length; they also require a value,
 * unless the setting `neededUnless` is true.
 */
export function operatorSecret<Schema extends TSchema>(
  schema: Schema,
  options: { neededUnless?: string } = {},
): Schema {
  return { ...schema, writeOnly: true, chosenByUs: true, ...options };
}

/**
 * Declares a secret that can be rotated: several values, separated by white space, are accepted together (K8).
 * `listSecretValues` parses them. The options are those of `operatorSecret`.
 */
export function rotatedSecret(options: { description: string; default?: string; neededUnless?: string }) {
  const { neededUnless, description, ...rest } = options;
  const schema = Type.String({
    ...rest,
    pattern: `^\\s*\\S+(\\s+\\S+){0,${maxSecretValues - 1}}\\s*$`,
    errorMessage: `must be one value, or up to ${maxSecretValues} separated by white space`,
    description: `${description}; up to ${maxSecretValues} values separated by white space, the new one first`,
  });
  return { ...operatorSecret(schema, neededUnless === undefined ? {} : { neededUnless }), mostValues: maxSecretValues };
}

/** Returns the distinct values of a `rotatedSecret` in order; an empty list for an empty text. */
export function listSecretValues(text: string): string[] {
  return [...new Set(text.split(/\s+/).filter((value) => value !== ''))];
}

/** Marks a setting as a listen address. */
export function listenHost<Schema extends TSchema>(schema: Schema): Schema {
  return { ...schema, listensOn: true };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns whether the process is in production or reachable from other machines. @param values parsed settings by name
 */
export function isExposed(
  properties: Readonly<Record<string, TSchema>>,
  values: Readonly<Record<string, unknown>>,
  environment: string | undefined,
): boolean {
  const listens = Object.entries<Marked>(properties).filter(([, { listensOn }]) => listensOn === true);
  return (
    environment === 'production' ||
    listens.some(([name]) => typeof values[name] === 'string' && !isLoopback(values[name]))
  );
}

/** Returns the problems of the secrets of an exposed process. The texts do not quote the secrets. */
export function findWeakSecrets(
  properties: Readonly<Record<string, TSchema>>,
  values: Readonly<Record<string, unknown>>,
): string[] {
  return Object.entries<Marked>(properties).flatMap(([name, schema]) => {
    const value = values[name];
    if (schema.writeOnly !== true || schema.namesAccount === true || typeof value !== 'string') return [];
    if (value === '') {
      const { neededUnless } = schema;
      return neededUnless === undefined || values[neededUnless] === true
        ? []
        : [
            `${name} is missing, so that anybody could send what it vouches for: ${remedy}; or allow that with ${neededUnless}=true`,
          ];
    }
    const all = schema.mostValues === undefined ? [value] : listSecretValues(value);
    return all.flatMap((one, index) => {
      const problem = findWeakness(one, schema.chosenByUs === true);
      return problem === undefined
        ? []
        : [`${name}${all.length > 1 ? `, value ${index + 1},` : ''} ${problem}: ${remedy}`];
    });
  });
}

/**
 * Returns the problem of one secret as a text that continues a sentence after the name of the secret; undefined without
 * a problem.
 */
function findWeakness(value: string, chosenByUs: boolean): string | undefined {
  if (isPublicSecret(value) || listPasswords(value).some(isPublicSecret))
    return 'is, or holds, a password that anybody knows';
  return chosenByUs && value.length < minSecretLength ? `is shorter than ${minSecretLength} characters` : undefined;
}

/**
 * Returns the passwords in an address such as `postgresql://user:password@host`. A list such as
 * `nats://user:password@one,two` is not a valid URL, so the address is searched as text.
 */
function listPasswords(address: string): string[] {
  if (!address.includes('://')) return [];
  return [...address.matchAll(/(?:^|,)(?:\w+:\/\/)?[^:@/,]*:([^@/]*)@/g)].map(([, password = '']) => password);
}

/** Suffixes of secret names, e.g. `bot_token`, `webhookSecret`, `api_key`. */
const secretName =
  /(?:^|[_\W])(?:token|secret|password|passphrase|api_?key|private_?key|secret_?key|access_?key|credentials?)$/i;

/** Whether a text field of this name is a secret, e.g. `bot_token`, `webhookSecret`, `api_key`. */
export function isSecretName(key: string): boolean {
  return secretName.test(key.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2'));
}

const isSecret = (key: string, value: unknown): value is string =>
  typeof value === 'string' && value !== '' && isSecretName(key);

/** Returns a copy in which `{set: true}` replaces every secret, for responses (W6). */
export function maskSecrets(value: unknown): unknown {
  return mapSecrets(value, () => ({ set: true }));
}

/** Returns a copy in which the result of `replace` replaces every secret. */
export function mapSecrets(value: unknown, replace: (secret: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSecrets(item, replace));
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [
      key,
      isSecret(key, item) ? replace(item) : mapSecrets(item, replace),
    ]),
  );
}

/**
 * Returns a copy in which `{env: NAME}` replaces every secret, as in workspace files (rules/workspace#workspace-file).
 * @param prefix prefix of the variable names
 * @param names variable names in use; the function adds new names
 */
export function replaceSecrets(value: unknown, prefix: string, names: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((item, index) => replaceSecrets(item, `${prefix}_${index + 1}`, names));
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  const entries = Object.entries(value).map(([key, item]: [string, unknown]): [string, unknown] => {
    const name = `${prefix}_${key}`;
    return [key, isSecret(key, item) ? { env: takeName(name, names) } : replaceSecrets(item, name, names)];
  });
  return Object.fromEntries(entries);
}

function takeName(text: string, names: Set<string>): string {
  const base = text.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  let name = base;
  for (let number = 2; names.has(name); number++) name = `${base}_${number}`;
  names.add(name);
  return name;
}
