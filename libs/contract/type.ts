/**
 * TypeBox's builders, as many as contracts use: what they make and its types are TypeBox's (`type.test.ts`), without the 350 modules that come with
 * the library and would be loaded at every start (docs/adr/schemas-without-their-library.md).
 */
import type { TObject, TProperties, TSchema, Type as TypeBox } from 'typebox';

type Builders =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Omit'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe';
type Options = Readonly<Record<string, unknown>>;

/** Marks a property that may be absent; no part of the schema as it is written or copied. */
const optional = Symbol('optional');

const asOptional = (schema: TSchema): TSchema => Object.defineProperty({ ...schema }, optional, { value: true });

function object(properties: TProperties, options?: Options): object {
  const required = Object.keys(properties).filter((name) => !(optional in (properties[name] as object)));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
}

function mapProperties({ properties }: TObject, map: (name: string, schema: TSchema) => TSchema | undefined, options?: Options): object {
  const mapped = Object.entries(properties).flatMap(([name, schema]) => {
    const made = map(name, schema);
    return made === undefined ? [] : [[name, made] as const];
  });
  return object(Object.fromEntries(mapped), options);
}

/** Each gives JSON Schema 2020-12; `options` are further keywords. */
export const Type = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: object,
  Omit: (schema: TObject, names: readonly string[], options?: Options) =>
    mapProperties(schema, (name, property) => (names.includes(name) ? undefined : property), options),
  Optional: asOptional,
  Partial: (schema: TObject, options?: Options) => mapProperties(schema, (_name, property) => asOptional(property), options),
  Record: (key: TSchema & { pattern?: string }, value: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { [key.pattern ?? '^.*$']: value },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
} as unknown as Pick<typeof TypeBox, Builders>;
