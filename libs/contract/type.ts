/**
 * TypeBox's builders, as many as contracts use: what they make and its types are TypeBox's (`type.test.ts`), without the modules of
 * the library, which would be loaded at every start (docs/performance-notes.md#schemas-without-typebox-at-run-time).
 */
import type { TObject, TProperties, TSchema, Type as TypeBox } from 'typebox';

type Options = Readonly<Record<string, unknown>>;

/** Marks a property that may be absent; no part of the schema as it is written or copied. */
const optional = Symbol('optional');

const asOptional = (schema: TSchema): TSchema => Object.defineProperty({ ...schema }, optional, { value: true });

function object(properties: TProperties, options?: Options): object {
  const required = Object.keys(properties).filter((name) => !(optional in (properties[name] as object)));
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options };
}

const builders = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Object: object,
  Omit: ({ properties }: TObject, names: readonly string[], options?: Options) =>
    object(Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))), options),
  Optional: asOptional,
  Partial: ({ properties }: TObject, options?: Options) =>
    object(Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asOptional(schema)])), options),
  Record: (key: TSchema & { pattern?: string }, value: TSchema, options?: Options) => ({
    type: 'object',
    patternProperties: { [key.pattern ?? '^.*$']: value },
    ...options,
  }),
  String: (options?: Options) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
};

/** Each gives JSON Schema 2020-12; `options` are further keywords. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;
