import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as typebox from 'typebox';
import { Type } from './type.ts';

type Builder = typeof Type;
/** Builds a schema with the given builders, to compare ours with TypeBox. */
type Recipe = (build: Builder) => typebox.TSchema;

const options = fc.record(
  { title: fc.string(), description: fc.string(), default: fc.jsonValue() },
  { requiredKeys: [] },
);
const names = fc.constantFrom('a', 'b', 'toString', 'length', 'c d');
const plain: fc.Arbitrary<Recipe> = fc
  .tuple(
    fc.constantFrom('Boolean', 'Integer', 'Null', 'Number', 'String', 'Unknown'),
    fc.option(options, { nil: undefined }),
  )
  .map(
    ([kind, given]) =>
      (build) =>
        build[kind](given),
  );

const literal: fc.Arbitrary<Recipe> = fc.tuple(fc.oneof(fc.string(), fc.integer(), fc.boolean()), options).map(
  ([value, given]) =>
    (build) =>
      build.Literal(value, given),
);
const choice: fc.Arbitrary<Recipe> = fc.tuple(fc.array(fc.string(), { minLength: 1 }), options).map(
  ([values, given]) =>
    (build) =>
      build.Enum(values, given),
);
const list = (inner: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> =>
  fc.tuple(inner, options).map(
    ([items, given]) =>
      (build) =>
        build.Array(items(build), given),
  );
const union = (inner: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> =>
  fc.tuple(fc.array(inner, { minLength: 1, maxLength: 3 }), options).map(
    ([branches, given]) =>
      (build) =>
        build.Union(
          branches.map((branch) => branch(build)),
          given,
        ),
  );
const map = (inner: fc.Arbitrary<Recipe>): fc.Arbitrary<Recipe> =>
  fc.tuple(inner, options, fc.option(fc.constantFrom('^[a-z]+$', '^x'), { nil: undefined })).map(
    ([value, given, pattern]) =>
      (build) =>
        build.Record(pattern === undefined ? build.String() : build.String({ pattern }), value(build), given),
  );

const { recipe } = fc.letrec<{ recipe: Recipe; object: Recipe }>((tie) => ({
  recipe: fc.oneof(
    { depthSize: 'small' },
    plain,
    literal,
    choice,
    tie('object'),
    map(tie('recipe')),
    list(tie('recipe')),
    union(tie('recipe')),
  ),
  object: fc
    .tuple(
      fc.dictionary(names, fc.tuple(tie('recipe'), fc.boolean())),
      fc.option(options, { nil: undefined }),
      names,
      fc.nat(2),
    )
    .map(([parts, given, name, way]) => (build) => {
      const properties = Object.fromEntries(
        Object.entries(parts).map(([key, [part, isOptional]]) => [
          key,
          isOptional ? build.Optional(part(build)) : part(build),
        ]),
      );
      const whole = build.Object(properties, given);
      if (way === 0) return whole;
      return way === 1 ? build.Partial(whole, given ?? {}) : build.Omit(whole, [name], given ?? {});
    }),
}));

describe('Type (architecture#contracts)', () => {
  it('creates the same schemas as TypeBox, including the order of keywords', () => {
    fc.assert(
      fc.property(recipe, (make) => {
        expect(JSON.stringify(make(Type))).toBe(JSON.stringify(make(typebox.Type)));
      }),
      { numRuns: 500 },
    );
  });

  it('wraps a foreign schema like TypeBox', () => {
    const schema = { type: 'string', format: 'binary' };
    expect(Type.Unsafe(schema)).toEqual(typebox.Type.Unsafe(schema));
    expect(Type.Unsafe(schema)).not.toBe(schema);
  });

  it('does not modify a schema that it makes optional', () => {
    const name = Type.String();
    expect(Type.Object({ a: Type.Optional(name), b: name }).required).toEqual(['b']);
  });
});
