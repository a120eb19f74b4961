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

/** Most texts have none of these signs, of which each secret has one, or are ids: they cost next to nothing. */
const isId = /^[0-9a-f-]{1,36}$/;
const suspicious =
  /[=:@|\t]|%3[Aa]|,,|[\w-]{12}|[^\s!-~]|pass|pin|pwd|pw|otp|cod[ei]|kod|key|secret|token|credential|kenn|geheim|wort|wacht|clave|contrase|senha|palavra|parola|hasl|hesl|sifre|adgang|losen|salasana|jelsz|kata|mat khau|cle |ch?iave|chave|klucz|sleutel|phrase|bearer|basic|digest|negotiate|oauth|signature|slack|discord/i;

/** A text without secrets: the very same when it has none. JSON is written anew without them. */
export function redactText(text: string): string {
  return redactString(text, 1);
}

function redactPlain(text: string): string {
  if (isId.test(text) || !suspicious.test(text)) return text;
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
    const isPairs = value.every(isPair);
    const items = value.map((item) => (isPairs ? redactPair(item as Pair, level) : redactJson(item, level + 1)));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value);
  const isEntry = nameFields.some((name) => isSecretLabel(value[name]));
  const retained = entries.map(([name, field]): [string, unknown] => [
    redactPlain(name),
    isSecretField(name, field) || (isEntry && valueFields.has(name) && isSecretField('secret', field))
      ? redacted
      : redactJson(field, level + 1),
  ]);
  const isSame = retained.every(([name, field], index) => field === entries[index]?.[1] && name === entries[index]?.[0]);
  return isSame ? value : Object.fromEntries(retained);
}

/** `[["Authorization", "…"], …]`, as entries of a map are. */
type Pair = readonly [string, unknown];
const isPair = (item: unknown): item is Pair => Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';

function redactPair(pair: Pair, level: number): unknown {
  const [name, value] = pair;
  return isSecretLabel(name) && isSecretField('secret', value) ? [name, redacted] : redactJson(pair, level + 1);
}

/** `{"name": "Authorization", "value": "…"}`, as lists of headers and answers of forms have it. */
const nameFields = ['name', 'key', 'label', 'header', 'field', 'question', 'title', 'type'] as const;
const valueFields: ReadonlySet<string> = new Set(['value', 'values', 'content', 'answer', 'text', 'response']);
const isSecretLabel = (label: unknown): boolean => typeof label === 'string' && label.length <= 100 && isSecretName(label);

function redactString(text: string, level: number): string {
  const document = /^\s{0,100}[[{"]/.test(text) ? readDocument(text) : undefined;
  if (document === undefined) return redactPlain(text);
  const retained = redactJson(document, level + levelsOfText);
  return retained === document ? text : JSON.stringify(retained);
}

/** A body as it came, if it has no secrets; JSON is written anew without them, so are fields of a form, and any other text loses what looks like one. */
export function redactBody(body: string): string {
  const document = readDocument(body);
  if (document === undefined) return redactPlain(redactForm(body));
  const retained = redactJson(document);
  return retained === document ? body : JSON.stringify(retained);
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
