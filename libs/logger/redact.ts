/**
 * Redaction of what is logged. pino's own, by paths with wildcards, took a fifth of the gateway's time per request; most lines
 * hold a few plain values, which this passes through after one look at each key.
 */

type Fields = Record<string, unknown>;

const secretKeys = new Set([
  'authorization',
  'cookie',
  'password',
  'token',
  'access_token',
  'secret',
  'apiKey',
  'api_key',
  'bot_token',
  'webhook_secret',
  'API_TOKEN',
  'API_LOGIN_SECRET',
  'S3_SECRET_ACCESS_KEY',
  'DATABASE_URL',
  'NATS_URL',
]);
const censor = '[redacted]';
/** The same for pino's serializers, which work on one field by its key. */
export const secretSerializers: Readonly<Record<string, () => string>> = Object.fromEntries(
  [...secretKeys].map((key) => [key, () => censor]),
);

/** Level of nesting down to which secrets are looked for; the line's own fields are level 1. */
const maxLevel = 3;

/** The fields with the values of secret keys replaced; the same object when there are none. */
export function redactSecrets(fields: Fields): Fields {
  return hasSecret(fields, 1) ? redact(fields, 1) : fields;
}

function hasSecret(fields: Fields, level: number): boolean {
  for (const key in fields) {
    if (secretKeys.has(key)) return true;
    const value = fields[key];
    if (isNested(value, level) && hasSecret(value, level + 1)) return true;
  }
  return false;
}

function redact(fields: Fields, level: number): Fields {
  const entries = Object.entries(fields).map(([key, value]) => {
    if (secretKeys.has(key)) return [key, censor];
    return [key, isNested(value, level) ? redact(value, level + 1) : value];
  });
  return Object.fromEntries(entries) as Fields;
}

/** Errors keep their prototype for pino's serializer, which redacts what it makes of them. */
function isNested(value: unknown, level: number): value is Fields {
  return typeof value === 'object' && value !== null && level < maxLevel && !(value instanceof Error);
}
