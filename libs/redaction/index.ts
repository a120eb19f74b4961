/**
 * Secrets in what operators look at and in logs (P2): payloads, results and errors of jobs, bodies and headers of webhooks. A field goes by its
 * name, a text by the shape of what stands in it and by the names before it; what is no secret stays as it came.
 */
import { isJsonObject, isRawNumber, type JsonObject, maxJsonDepth, parseJson } from '#libs/json';
import { isSecretField, isSecretName } from './names.ts';
import { redactForm, redactPairs } from './pairs.ts';
import { redacted, redactShapes } from './shapes.ts';

export { redacted } from './shapes.ts';
export { isSecretField } from './names.ts';

/** Most short texts have none of these signs, of which each secret has one, or are ids: they cost next to nothing. */
const anySign = /[=:@ %]|eyJ|[_-][0-9A-Za-z]|A[GIKS]|SG\.|ya29|\.com\//;
const isId = /^[0-9a-f-]{1,36}$/;
/** Signs of which each secret in a text has one. */
const suspicious =
  /[=:@]|%3[AaDd]|eyJ|sk-|svc_|whsec_|cal_|gh[oprsu]_|github_|gl[a-z]{2,4}-|k_live_|k_test_|xox|xapp-|AKIA|ASIA|AIza|ya29|hf_|npm_|SG\.|AGE-|shp[a-z]{2}_|dop_|lin_|figd_|ntn_|PRIVATE KEY|bearer|basic|token|digest|negotiate|api-?key| is |slack|discord/i;

/** A text without secrets: the very same when it has none. JSON is written anew without them. */
export function redactText(text: string): string {
  return redactString(text, 1);
}

function redactPlain(text: string): string {
  if (!anySign.test(text) || isId.test(text) || !suspicious.test(text)) return text;
  return redactPairs(redactShapes(text));
}

/** JSON in a text counts so many levels, so that a document within documents ends. */
const levelsOfText = 8;

/** The same value without secrets: the very same when it has none. */
export function redactJson(value: unknown, level = 1): unknown {
  if (typeof value === 'string') return redactString(value, level);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (level > maxJsonDepth) return redacted; // nobody looks so deep
  if (Array.isArray(value)) {
    const items = value.map((item) => redactJson(item, level + 1));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const isPair = nameFields.some((name) => isSecretLabel(value[name]));
  const kept = entries.map(([name, field]): [string, unknown] => [
    redactPlain(name),
    isSecretField(name, field) || (isPair && valueFields.has(name) && isSecretField('secret', field))
      ? redacted
      : redactJson(field, level + 1),
  ]);
  const isSame = kept.every(([name, field], index) => field === entries[index]?.[1] && name === entries[index]?.[0]);
  return isSame ? value : Object.fromEntries(kept);
}

/** `{"name": "Authorization", "value": "…"}`, as lists of headers and answers of forms have it. */
const nameFields = ['name', 'key', 'label', 'header', 'field'] as const;
const valueFields: ReadonlySet<string> = new Set(['value', 'values', 'content', 'answer']);
const isSecretLabel = (label: unknown): boolean => typeof label === 'string' && label.length <= 100 && isSecretName(label);

function redactString(text: string, level: number): string {
  const document = /^\s{0,100}[[{"]/.test(text) ? readDocument(text) : undefined;
  if (document === undefined) return redactPlain(text);
  const kept = redactJson(document, level + levelsOfText);
  return kept === document ? text : JSON.stringify(kept);
}

/** A body as it came, if it has no secrets; JSON is written anew without them, so are fields of a form, and any other text loses what looks like one. */
export function redactBody(body: string): string {
  const document = readDocument(body);
  if (document === undefined) return redactPlain(redactForm(body));
  const kept = redactJson(document);
  return kept === document ? body : JSON.stringify(kept);
}

function readDocument(body: string): JsonObject | unknown[] | string | undefined {
  try {
    const document = parseJson(body);
    return typeof document === 'string' || isJsonObject(document) || Array.isArray(document) ? document : undefined;
  } catch {
    return undefined;
  }
}

/** Headers of a request, by name. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSecretName(name) && value !== '' ? redacted : redactText(value)]),
  );
}
