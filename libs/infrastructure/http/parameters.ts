/**
 * Path, query and header parameters. Their text is converted to the declared type and then checked like a body
 * (rules/http#ids, rules/http#datetimes-in).
 */
import { parse as parseQuery } from 'node:querystring';
import { maxId, type Route, type TSchema } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { isSingleLine } from '#libs/infrastructure/text';
import type { ValidationItem } from './envelope.ts';
import { nullCharacter } from './storable.ts';
import { boolParsing, type Check, compileCheck, intParsing } from './validation.ts';

type Source = 'path' | 'query' | 'header';

interface Parameter {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Declared JSON type; `words` is a list that the operation receives as one string (`listParameter`). */
  readonly type: string;
  readonly itemType: string;
  readonly dateTime: boolean;
  /** True for an integer without declared bounds, which is an id (see `maxId`). */
  readonly unbounded: boolean;
}

interface ParameterGroup {
  readonly source: Source;
  readonly parameters: readonly Parameter[];
  readonly check: Check;
}

export interface ReadParameters {
  readonly params: Record<string, unknown>;
  readonly query: Record<string, unknown>;
  readonly headers: Record<string, unknown>;
  readonly problems: ValidationItem[];
  /** True when a path id or slug cannot exist; the request returns 404 after all other checks. */
  readonly absent: boolean;
}

export interface RawParameters {
  readonly path: Readonly<Record<string, string | undefined>>;
  /** Query string without `?`. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const none: Record<string, unknown> = Object.freeze({});

/** Prepares the parameters of a route once. The returned function reads the parameters of one request. */
export function compileParameters(route: Route): (raw: RawParameters) => ReadParameters {
  const path = compileGroup('path', route.params);
  const query = compileGroup('query', route.query);
  const header = compileGroup('header', route.headers);
  const lists = new Set(query?.parameters.filter(isList).map(({ name }) => name));
  return (raw) => {
    const problems: ValidationItem[] = [];
    const found = { absent: false };
    const params = path === undefined ? none : readGroup(path, raw.path, problems, found);
    const queryValues = query === undefined ? none : readGroup(query, readQuery(raw.query, lists), problems, found);
    const headers = header === undefined ? none : readGroup(header, raw.headers, problems, found);
    return { params, query: queryValues, headers, problems, absent: found.absent };
  };
}

/**
 * Returns the error for a path id or slug that cannot exist. On the operations API it names the missing object (D94).
 */
export const missingId = ({ auth, errors }: Pick<Route, 'auth' | 'errors'>): Error =>
  notFound(auth === 'ops' || auth === 'ops-act' ? errors?.['not_found']?.when : undefined);

function compileGroup(source: Source, schema: TSchema | undefined): ParameterGroup | undefined {
  if (schema === undefined) return undefined;
  const properties = (schema as { properties?: Record<string, Record<string, unknown>> }).properties ?? {};
  const parameters = Object.entries(properties).map(([name, property]) => {
    const core = withoutNull(property);
    const items = (core['items'] ?? {}) as Record<string, unknown>;
    return {
      name,
      schema: core,
      type: core['listOf'] === undefined ? readType(core) : 'words',
      itemType: readType(items),
      dateTime: String(core['format']).startsWith('date-time'),
      unbounded: core['minimum'] === undefined && core['maximum'] === undefined,
    };
  });
  return { source, parameters, check: compileCheck(schema, [source]) };
}

const isList = ({ type }: Parameter): boolean => type === 'array' || type === 'words';

const bracket = /\[|%5b/i;
/** A list parameter in bracket notation: `types[]`, or `types[0]` as some libraries write it. */
const bracketed = /^([^[]+)\[\d*\]$/;

/**
 * Collects the values of each parameter in order. A list has the values of all parameters with its name, with or
 * without brackets (D103).
 */
function readQuery(query: string, lists: ReadonlySet<string>): Record<string, string | string[] | undefined> {
  const parsed = parseQuery(query, '&', '=', { maxKeys: 0 });
  if (lists.size === 0 || !bracket.test(query)) return parsed;
  const joined: Record<string, string[]> = {};
  for (const pair of query.split('&')) {
    const [[key, value] = ['', '']] = Object.entries(parseQuery(pair));
    const name = bracketed.exec(key)?.[1] ?? key;
    if (lists.has(name)) (joined[name] ??= []).push(String(value));
  }
  return { ...parsed, ...joined };
}

function readType({ type }: Record<string, unknown>): string {
  return typeof type === 'string' ? type : 'string';
}

function withoutNull(schema: Record<string, unknown>): Record<string, unknown> {
  const branches = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as Record<string, unknown>[]) : [];
  const rest = branches.filter((branch) => branch['type'] !== 'null');
  return rest.length === 1 && rest[0] !== undefined ? rest[0] : schema;
}

function readGroup(
  group: ParameterGroup,
  raw: Readonly<Record<string, string | string[] | undefined>>,
  problems: ValidationItem[],
  found: { absent: boolean },
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const failed = new Set<string>();
  for (const parameter of group.parameters) {
    const { name } = parameter;
    const given = raw[group.source === 'header' ? name.toLowerCase() : name];
    if (given === undefined) continue;
    const item = coerce(parameter, given, group.source, values, found);
    if (item === undefined) continue;
    failed.add(name);
    problems.push(item);
  }
  for (const item of group.check(values)) {
    const name = String(item.loc[1]);
    if (failed.has(name)) continue;
    if (group.source === 'path' && (item.type === 'greater_than_equal' || item.type === 'less_than_equal'))
      found.absent = true;
    else problems.push(item.loc.length > 2 ? { ...item, loc: [group.source, name] } : item);
  }
  return values;
}

/** Adds the coerced value to `values`, or returns the problem with the text. */
function coerce(
  parameter: Parameter,
  given: string | string[],
  source: Source,
  values: Record<string, unknown>,
  found: { absent: boolean },
): ValidationItem | undefined {
  const loc = [source, parameter.name];
  if (isList(parameter)) return coerceList(parameter, given, loc, values);
  const text = typeof given === 'string' ? given : (given.at(-1) ?? '');
  if (source === 'path' && parameter.type === 'string' && !isSingleLine(text)) found.absent = true;
  else if (text.includes('\0')) return nullCharacter(loc);
  if (parameter.type === 'integer') {
    const number = readInteger(text);
    if (number === undefined) return { ...intParsing, loc };
    if (parameter.unbounded && source === 'path' && (number < 1 || number > maxId)) found.absent = true;
    if (!Number.isSafeInteger(number) && !parameter.unbounded && source === 'query')
      return outOfRange(number, loc, parameter.schema);
    values[parameter.name] = parameter.unbounded && source === 'query' ? toPossibleId(number) : number;
  } else if (parameter.type === 'number') {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    if (!Number.isFinite(number))
      return { type: 'float_parsing', msg: 'Input should be a valid number, unable to parse string as a number', loc };
    values[parameter.name] = number;
  } else if (parameter.type === 'boolean') {
    const flag = booleans.get(text.toLowerCase());
    if (flag === undefined) return { ...boolParsing, loc };
    values[parameter.name] = flag;
  } else {
    values[parameter.name] = parameter.dateTime && source === 'query' ? mendPlus(text) : text;
  }
  return undefined;
}

/**
 * Joins repeated values (D103), trims tokens and drops empty ones. Integers are counted before duplicates are removed
 * (D18).
 */
function coerceList(
  parameter: Parameter,
  given: string | string[],
  loc: string[],
  values: Record<string, unknown>,
): ValidationItem | undefined {
  const text = typeof given === 'string' ? given : given.join(',');
  if (text.includes('\0')) return nullCharacter(loc);
  const tokens = text
    .split(',')
    .map((token) => token.trim())
    .filter((token) => token !== '');
  const maxItems = parameter.schema['maxItems'];
  if (parameter.itemType !== 'integer') {
    values[parameter.name] = parameter.type === 'words' ? tokens.join(',') : tokens;
    return undefined;
  }
  const numbers: number[] = [];
  for (const token of tokens) {
    const number = readInteger(token);
    if (number === undefined) return { ...intParsing, loc };
    numbers.push(toPossibleId(number));
  }
  const tooMany = typeof maxItems === 'number' && numbers.length > maxItems;
  values[parameter.name] = tooMany ? numbers : [...new Set(numbers)];
  return undefined;
}

/**
 * Parses an integer. Numbers beyond the range of a double become the largest double, which every range check rejects
 * too; infinity would become null in a request.
 */
function readInteger(text: string): number | undefined {
  if (!/^\s*[+-]?[0-9]+\s*$/.test(text)) return undefined;
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, Number(text)));
}

/**
 * Replaces an integer outside int4 by 0, an id that does not exist. Negative integers are unchanged, because they
 * identify unresolved speakers.
 */
function toPossibleId(number: number): number {
  return Math.abs(number) > maxId ? 0 : number;
}

/** Returns the problem with the declared bound if there is one, so that the client can correct the value. */
function outOfRange(number: number, loc: string[], { minimum, maximum }: Parameter['schema']): ValidationItem {
  const ge = typeof minimum === 'number' ? minimum : -Number.MAX_SAFE_INTEGER;
  const le = typeof maximum === 'number' ? maximum : Number.MAX_SAFE_INTEGER;
  return number > 0
    ? { type: 'less_than_equal', loc, msg: `Input should be less than or equal to ${le}`, ctx: { le } }
    : { type: 'greater_than_equal', loc, msg: `Input should be greater than or equal to ${ge}`, ctx: { ge } };
}

const booleans = new Map([
  ...['true', '1', 'on', 'yes', 't', 'y'].map((word) => [word, true] as const),
  ...['false', '0', 'off', 'no', 'f', 'n'].map((word) => [word, false] as const),
]);

/** Replaces the space before an offset by `+`: query parsing decodes a raw `+` as a space (rules/http#datetimes-in). */
function mendPlus(text: string): string {
  const space = text.lastIndexOf(' ');
  const [time, offset] = [text.slice(0, space), text.slice(space + 1)];
  return space > 0 && /^[0-9]{2}(?::?[0-9]{2})?$/.test(offset) && /[0-9]:[0-9]/.test(time) ? `${time}+${offset}` : text;
}
