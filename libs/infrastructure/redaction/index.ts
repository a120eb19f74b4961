/**
 * Redacts secrets in data shown to operators and in logs (P2): payloads, results and errors of jobs, bodies and headers
 * of webhooks. Fields are matched by name, texts by shape and by preceding names; everything else is unchanged.
 */
import { isJsonObject, isRawNumber, type JsonObject, maxJsonDepth, parseJson } from '#libs/infrastructure/json';
import { isSecretField, isSecretName } from './names.ts';
import { redactForm, redactPairs } from './pairs.ts';
import { redacted, redactShapes } from './shapes.ts';

export { redacted } from './shapes.ts';
export { isSecretField } from './names.ts';

/**
 * Fast path: most texts are ids, or contain nothing that `suspicious` matches. Every secret contains a match of
 * `suspicious`.
 */
const isId = /^[0-9a-f-]{1,36}$/;
const suspicious =
  /[=:@|\t]|%3[Aa]|,,|[\w-]{12}|[^\s!-~]|pass|pin|pwd|pw|otp|cod[ei]|kod|key|secret|token|credential|kenn|geheim|wort|wacht|clave|contrase|senha|palavra|parola|hasl|hesl|sifre|adgang|losen|salasana|jelsz|kata|mat khau|cle |ch?iave|chave|klucz|sleutel|phrase|bearer|basic|digest|negotiate|oauth|signature|slack|discord/i;

/**
 * Returns the text without secrets; the identical text when it contains none. JSON with secrets is serialized again.
 */
export function redactText(text: string): string {
  return redactString(text, 1);
}

function redactPlain(text: string): string {
  if (isId.test(text) || !suspicious.test(text)) return text;
  return redactPairs(redactShapes(text));
}

/** JSON inside a text counts as this many levels, which limits nested documents. */
const levelsOfText = 8;

/** Returns the value without secrets; the identical value when it contains none. */
export function redactJson(value: unknown, level = 1): unknown {
  if (typeof value === 'string') return redactString(value, level);
  if (typeof value !== 'object' || value === null || isRawNumber(value)) return value;
  if (level > maxJsonDepth) return redacted; // beyond the supported depth
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
  const isSame = retained.every(
    ([name, field], index) => field === entries[index]?.[1] && name === entries[index]?.[0],
  );
  return isSame ? value : Object.fromEntries(retained);
}

/** A name with its value, as in `[["Authorization", "…"], …]`. */
type Pair = readonly [string, unknown];
const isPair = (item: unknown): item is Pair => Array.isArray(item) && item.length === 2 && typeof item[0] === 'string';

function redactPair(pair: Pair, level: number): unknown {
  const [name, value] = pair;
  return isSecretLabel(name) && isSecretField('secret', value) ? [name, redacted] : redactJson(pair, level + 1);
}

/** Fields that contain a name, as in `{"name": "Authorization", "value": "…"}` of header lists and form answers. */
const nameFields = ['name', 'key', 'label', 'header', 'field', 'question', 'title', 'type'] as const;
const valueFields: ReadonlySet<string> = new Set(['value', 'values', 'content', 'answer', 'text', 'response']);
const isSecretLabel = (label: unknown): boolean =>
  typeof label === 'string' && label.length <= 100 && isSecretName(label);

function redactString(text: string, level: number): string {
  const document = /^\s{0,100}[[{"]/.test(text) ? readDocument(text) : undefined;
  if (document === undefined) return redactPlain(text);
  const retained = redactJson(document, level + levelsOfText);
  return retained === document ? text : JSON.stringify(retained);
}

/**
 * Returns the body without secrets; the identical body when it contains none. JSON and form fields are serialized
 * again; other text is redacted by pattern.
 */
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

/** Returns the request headers without secrets, which are recognised by the header names. */
export function redactHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretName(name) && value !== '' ? redacted : redactText(value),
    ]),
  );
}
