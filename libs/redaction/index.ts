/**
 * Secrets in what operators look at (P2): payloads of jobs, bodies and headers of webhooks. A field goes by its name, a text by the shape of
 * what stands in it; what is no secret stays as it came.
 */
import { isJsonObject, isRawNumber, type JsonObject, maxJsonDepth, parseJson } from '#libs/json';

export const redacted = '[redacted]';

/** Names of fields, without what separates their words. */
const secretName =
  /passw(or)?d|passphrase|secret|token|apikey|authorization|cookie|credential|privatekey|signingkey|accesskey|sessionkey|signature|^(auth|pin|otp|jwt|bearer|sig)$/;
/** Names that only sound like it. */
const plainName = /^(tokentype|tokencount|maxtokens|prompttokens|completiontokens|totaltokens)$/;

function isSecretName(name: string): boolean {
  const bare = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  return secretName.test(bare) && !plainName.test(bare);
}

/** What is a secret wherever it stands. None can begin within what another try has read already, so that a long text is gone through once. */
const secretTexts: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?/g, redacted],
  [/\bsvc_(?:agentic|key)_[0-9A-Za-z]+_[0-9A-Za-z_-]+/g, redacted],
  [/\b(Bearer|Basic) +[0-9A-Za-z._~+/=-]{8,}/gi, `$1 ${redacted}`],
  [/(?<![0-9A-Za-z_-])eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]+\.[0-9A-Za-z_-]*/g, redacted],
  [/\b\d{6,12}:[0-9A-Za-z_-]{30,}/g, redacted],
  [/\b(?:whsec_|sk-|gh[pousr]_|xox[abprs]-|AKIA)[0-9A-Za-z+/=_-]{12,}/g, redacted],
  [/(:\/\/)[^\s/?#@"'<>]{1,500}@/g, `$1${redacted}@`],
  [/([?&;](?:[\w-]{0,40}(?:token|secret|password|signature|credential|api_?key)|sig|key|code)=)[^\s&#"'<>]+/gi, `$1${redacted}`],
];

/** A text without the secrets in it. */
function redactShapes(text: string): string {
  return secretTexts.reduce((kept, [shape, instead]) => kept.replace(shape, instead), text);
}

/** The same value without secrets: the very same when it has none. */
export function redactJson(value: unknown, level = 1): unknown {
  if (typeof value === 'string') return redactShapes(value);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (level > maxJsonDepth) return redacted; // nobody looks so deep
  if (Array.isArray(value)) {
    const items = value.map((item) => redactJson(item, level + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.map(([name, field]): [string, unknown] => [
    redactShapes(name),
    isSecretName(name) && holdsText(field) ? redacted : redactJson(field, level + 1),
  ]);
  const isSame = kept.every(([name, field], index) => field === entries[index]?.[1] && name === entries[index]?.[0]);
  return isSame ? value : Object.fromEntries(kept);
}

/** A number, a flag and what is empty tell no secret, such as how many tokens were used. */
function holdsText(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (Array.isArray(value)) return value.some(holdsText);
  return isJsonObject(value) && Object.values(value).some(holdsText);
}

/** A body as it came, if it has no secrets; JSON is written anew without them, so are fields of a form, and any other text loses what looks like one. */
export function redactBody(body: string): string {
  const document = readDocument(body);
  if (document !== undefined) {
    const kept = redactJson(document);
    return kept === document ? body : JSON.stringify(kept);
  }
  return redactShapes(body).replaceAll(/(?<![^&\n])([^=&\s]{1,200})=([^&\n]+)/g, (pair, name: string) =>
    isSecretName(name) ? `${name}=${redacted}` : pair,
  );
}

function readDocument(body: string): JsonObject | unknown[] | undefined {
  try {
    const document = parseJson(body);
    return isJsonObject(document) || Array.isArray(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Headers of a request, by name. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretName(name) && value !== '' ? redacted : redactShapes(value)]),
  );
}
