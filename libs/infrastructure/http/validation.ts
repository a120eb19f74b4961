/** Schema violations as 422 items, with the types and messages that API clients know (rules/http#validation-items). */
import type { TSchema } from '#libs/infrastructure/contract';
import { isRawNumber } from '#libs/infrastructure/json';
import { compileForm, type SchemaViolation } from '#libs/infrastructure/schema';
import { lineFormat, linePattern } from '#libs/infrastructure/text';
import { parseInstant } from '#libs/infrastructure/time';
import type { ValidationItem } from './envelope.ts';

type Location = readonly (string | number)[];

/**
 * Checks a value and returns the problems. The `loc` of each problem starts with the `location` given to
 * `compileCheck`.
 */
export type Check = (value: unknown) => ValidationItem[];

/** Compiles a schema once, so that a check does not process it again. */
export function compileCheck(schema: TSchema, location: Location): Check {
  const check = compileForm(schema);
  return (value) => {
    const violations = check(value);
    return violations.length === 0 ? [] : toItems(violations, location);
  };
}

function toItems(violations: readonly SchemaViolation[], location: Location): ValidationItem[] {
  const items: ValidationItem[] = [];
  const seen = new Set<string>();
  for (const violation of violations) {
    const { type, ...rest } = describe(violation);
    const missing = violation.keyword === 'required' ? [String(violation.params['missingProperty'])] : [];
    const loc = [...location, ...violation.path, ...missing];
    const key = JSON.stringify([type, loc]);
    if (!seen.has(key)) items.push({ type, loc, ...rest });
    seen.add(key);
  }
  return items;
}

type Description = Pick<ValidationItem, 'type' | 'msg' | 'ctx'>;

function describe({ keyword, params, value, schema }: SchemaViolation): Description {
  const limit = String(params['limit']);
  const bound = params['limit'];
  switch (keyword) {
    case 'required':
      return { type: 'missing', msg: 'Field required' };
    case 'type':
      return describeType(params['type'], value, schema);
    case 'format':
      return describeFormat(String(params['format']), value);
    case 'enum':
      return describeEnum(params['allowedValues']);
    case 'const':
      return describeEnum([params['allowedValue']]);
    case 'minimum':
      return {
        type: 'greater_than_equal',
        msg: `Input should be greater than or equal to ${limit}`,
        ctx: { ge: bound },
      };
    case 'maximum':
      return { type: 'less_than_equal', msg: `Input should be less than or equal to ${limit}`, ctx: { le: bound } };
    case 'exclusiveMinimum':
      return { type: 'greater_than', msg: `Input should be greater than ${limit}`, ctx: { gt: bound } };
    case 'exclusiveMaximum':
      return { type: 'less_than', msg: `Input should be less than ${limit}`, ctx: { lt: bound } };
    case 'multipleOf':
      return {
        type: 'multiple_of',
        msg: `Input should be a multiple of ${String(params['multipleOf'])}`,
        ctx: { multiple_of: params['multipleOf'] },
      };
    case 'pattern':
      return describePattern(String(params['pattern']));
    case 'uniqueItems':
      return {
        type: 'value_error',
        msg: `List should have no item twice; items ${String(params['j'])} and ${String(params['i'])} are the same`,
      };
    default:
      return describeSize(keyword, Number(limit), value) ?? { type: 'value_error', msg: 'Input is not valid' };
  }
}

function describeSize(keyword: string, limit: number, value: unknown): Description | undefined {
  if (keyword === 'minLength') {
    return {
      type: 'string_too_short',
      msg: `String should have at least ${count(limit, 'character')}`,
      ctx: { min_length: limit },
    };
  }
  if (keyword === 'maxLength') {
    return {
      type: 'string_too_long',
      msg: `String should have at most ${count(limit, 'character')}`,
      ctx: { max_length: limit },
    };
  }
  const list = Array.isArray(value);
  const actual = list ? value.length : Object.keys(value ?? {}).length;
  const kind = list ? 'List' : 'Dictionary';
  if (keyword === 'minItems' || keyword === 'minProperties') {
    const msg = `${kind} should have at least ${count(limit, 'item')} after validation, not ${actual}`;
    return { type: 'too_short', msg, ctx: { field_type: kind, min_length: limit, actual_length: actual } };
  }
  if (keyword === 'maxItems' || keyword === 'maxProperties') {
    const msg = `${kind} should have at most ${count(limit, 'item')} after validation, not ${actual}`;
    return { type: 'too_long', msg, ctx: { field_type: kind, max_length: limit, actual_length: actual } };
  }
  return keyword === 'additionalProperties'
    ? { type: 'extra_forbidden', msg: 'Extra inputs are not permitted' }
    : undefined;
}

const count = (limit: number, noun: string): string => `${limit} ${noun}${limit === 1 ? '' : 's'}`;

function describeType(expected: unknown, value: unknown, schema: Readonly<Record<string, unknown>>): Description {
  const type = Array.isArray(expected) ? expected.find((entry) => entry !== 'null') : expected;
  const text = typeof value === 'string' && value.trim() !== '' && Number.isNaN(Number(value));
  const numeric = typeof value === 'number' || isRawNumber(value);
  switch (type) {
    case 'integer':
      if (numeric)
        return { type: 'int_from_float', msg: 'Input should be a valid integer, got a number with a fractional part' };
      return text ? intParsing : { type: 'int_type', msg: 'Input should be a valid integer' };
    case 'number':
      return text
        ? { type: 'float_parsing', msg: 'Input should be a valid number, unable to parse string as a number' }
        : { type: 'float_type', msg: 'Input should be a valid number' };
    case 'boolean':
      return typeof value === 'string' ? boolParsing : { type: 'bool_type', msg: 'Input should be a valid boolean' };
    case 'string':
      if (String(schema['format']).startsWith('date-time'))
        return { type: 'datetime_type', msg: 'Input should be a valid datetime' };
      return schema['format'] === 'date'
        ? { type: 'date_type', msg: 'Input should be a valid date' }
        : { type: 'string_type', msg: 'Input should be a valid string' };
    case 'array':
      return { type: 'list_type', msg: 'Input should be a valid list' };
    case 'null':
      return { type: 'none_required', msg: 'Input should be None' };
    default:
      return { type: 'dict_type', msg: 'Input should be a valid dictionary' };
  }
}

/** The problem of a text that should be an integer. */
export const intParsing: Description = {
  type: 'int_parsing',
  msg: 'Input should be a valid integer, unable to parse string as an integer',
};
/** The problem of a text that should be a boolean. */
export const boolParsing: Description = {
  type: 'bool_parsing',
  msg: 'Input should be a valid boolean, unable to interpret input',
};

function describePattern(pattern: string): Description {
  const msg =
    pattern === linePattern ? 'String should have no control characters' : `String should match pattern '${pattern}'`;
  return { type: 'string_pattern_mismatch', msg, ctx: { pattern } };
}

function describeFormat(format: string, value: unknown): Description {
  if (format === lineFormat) return describePattern(linePattern);
  if (format.startsWith('date-time')) {
    const naive = typeof value === 'string' && parseInstant(value).kind === 'naive';
    if (naive) return { type: 'timezone_aware', msg: 'Input should have timezone info' };
    const error = 'it is not an RFC 3339 date and time';
    return { type: 'datetime_parsing', msg: `Input should be a valid datetime, ${error}`, ctx: { error } };
  }
  if (format === 'date') return { type: 'date_parsing', msg: 'Input should be a valid date in the format YYYY-MM-DD' };
  if (format === 'uri' || format === 'url') return { type: 'url_parsing', msg: 'Input should be a valid URL' };
  if (format === 'uuid') return { type: 'uuid_parsing', msg: 'Input should be a valid UUID' };
  return { type: 'value_error', msg: `Value error, input is not a valid ${format}` };
}

function describeEnum(allowed: unknown): Description {
  const choices = (Array.isArray(allowed) ? allowed : []).map((choice) =>
    typeof choice === 'string' ? `'${choice}'` : JSON.stringify(choice),
  );
  const expected = choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
  return { type: 'enum', msg: `Input should be ${expected}`, ctx: { expected } };
}
