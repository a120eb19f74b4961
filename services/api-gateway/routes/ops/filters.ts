/** Shared schemas of the lists and bulk actions of operators (P2, P3, P8). */
import { limitParameter, type TProperties, type TSchema, Type } from '#libs/infrastructure/contract';

/** Default page size. */
export const usualLimit = 50;
export const limitOf = (what: string) => limitParameter({ usual: usualLimit, most: 200, of: what });

/** The length is not limited, so that malformed cursors are reported as `bad_cursor` (D98). */
export const cursor = Type.String({ description: '`next` of the previous page.' });

export const page = {
  limit: limitOf('Rows of a page'),
  cursor: Type.Optional(cursor),
};

export const pageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    items: Type.Array(item),
    next: Type.Union([Type.String(), Type.Null()], { description: '`cursor` of the next page; null at the end.' }),
  });

/** Services that did not respond to an action on several services. */
export const missing = {
  missing: Type.Array(Type.String(), {
    description:
      'Services that did not answer; their result is unknown. The request can be repeated: it does not change finished items again. 503 if no service answers.',
  }),
};

/** A page merged from the lists of several services. */
export const mergedPageOf = <Item extends TSchema>(item: Item) =>
  Type.Object({
    ...pageOf(item).properties,
    missing: Type.Array(Type.String(), {
      description:
        'Services that did not answer. Their items follow on a later page once they answer, before older items. ' +
        '503 if none of the services with more items answers.',
    }),
  });

/** Returns the schema of an id in a list filter. An unknown id matches nothing (D98). */
export const anyId = (description: string) => Type.Integer({ description });

export const instant = (description: string) => Type.String({ format: 'date-time-offset', description });

export const badCursor = {
  bad_cursor: { code: 'bad_request', when: 'The cursor is not valid for this list.' },
} as const;

/**
 * Returns the body schema of a bulk action: ids, or a filter with the fields of the list. Null and unknown fields of
 * the filter are ignored; at least one other field is required, to prevent accidental actions on everything.
 */
export function chosen<Fields extends TProperties, Id extends TSchema>(fields: Fields, id: Id, maxIds: number) {
  const nullable = Object.fromEntries(
    Object.entries(fields).map(([name, schema]) => [name, Type.Optional(Type.Union([schema, Type.Null()]))]),
  ) as { [Name in keyof Fields]: ReturnType<typeof orNull<Fields[Name]>> };
  return Type.Object({
    filter: Type.Optional(
      Type.Object(nullable, { description: 'Filters of the list operation. At least one filter is required.' }),
    ),
    ids: Type.Optional(Type.Array(id, { maxItems: maxIds, description: `Instead of a filter. At most ${maxIds}.` })),
    dry_run: Type.Optional(Type.Boolean({ description: 'Count the items without changing them.' })),
  });
}
const orNull = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

export const choiceErrors = {
  empty_choice: { code: 'bad_request', when: 'Exactly one of `ids` and a non-empty `filter` is required.' },
} as const;
