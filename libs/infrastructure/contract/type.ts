/**
 * The TypeBox builders that contracts use. Results and types are those of TypeBox (`type.test.ts`), but the library's
 * modules are not loaded at every start (docs/performance-notes.md#schemas-without-typebox-at-run-time).
 */
import type { TObject, TProperties, TSchema, Type as TypeBox, TString } from 'typebox';
import { lineFormat, linePattern } from '#libs/infrastructure/text';

type Options = Readonly<Record<string, unknown>>;

/** Marks a property that may be absent. Serialized and copied schemas do not have the mark. */
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

/** Each builder returns JSON Schema 2020-12; `options` are further keywords. */
export const Type = builders as unknown as Pick<typeof TypeBox, keyof typeof builders>;

/** Schema of a value or null. */
export const nullable = <S extends TSchema>(schema: S, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** A name, title or slug in a request: one line. Control and invisible formatting characters return 422 (D74). */
export const singleLine = (options: Readonly<Record<string, unknown>> = {}): TString =>
  Type.String({ pattern: linePattern, format: lineFormat, ...options });

/** Largest id of a row. */
export const maxId = 2_147_483_647;

/** Schema of the id of a row. */
export const rowId = Type.Integer({ minimum: 1, maximum: maxId });

export function isPossibleId(id: number): boolean {
  return Number.isInteger(id) && id >= 1 && id <= maxId;
}

export const limitParameter = ({ usual, most, of = 'Items of a page' }: { usual: number; most: number; of?: string }) =>
  Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: most,
      default: usual,
      description: `${of}, default ${usual}, at most ${most}.`,
    }),
  );

interface ListOptions {
  readonly description: string;
  /** Allowed tokens; the operation rejects other ones. Absent: any token is allowed. */
  readonly words?: readonly string[];
  /** Tokens that an absent parameter stands for. */
  readonly usual?: readonly string[];
  /** Maximum characters of the whole list. */
  readonly maxLength?: number;
}

/**
 * Schema of a list parameter. The operation receives one string of comma-separated tokens, whichever notation the
 * request used.
 */
export const listParameter = ({ description, words, usual, maxLength }: ListOptions) =>
  Type.String({
    listOf: words ?? [],
    ...(usual === undefined ? {} : { default: usual.join(',') }),
    ...(maxLength === undefined ? {} : { maxLength }),
    description,
  });
