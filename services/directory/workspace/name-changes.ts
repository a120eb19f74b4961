/** Names the objects to which the changes of a diff refer (W24). */
import type { Static } from '#libs/infrastructure/contract';
import type { Queryable } from '#libs/infrastructure/sql';
import type { workspaceChange } from './contract.ts';
import { nameReferences, type ReferencedList } from './rules/file-changes.ts';
import type { ListName } from './rules/vocabulary.ts';
import { findKeys } from './statements/lookups.ts';

type Change = Static<typeof workspaceChange>;

/** Returns the changes with keys and slugs in place of ids. An object without one is `#<id>`. */
export async function nameChanges(db: Queryable, changes: readonly Change[]): Promise<Change[]> {
  const ids = new Map<ReferencedList, Set<number>>();
  rename(changes, (list, id) => {
    ids.set(list, (ids.get(list) ?? new Set<number>()).add(id));
    return '';
  });
  const names = new Map<string, string>();
  for (const [list, found] of ids) {
    if (!(list in findKeys)) continue;
    for (const { id, key } of await findKeys[list as keyof typeof findKeys](db, { ids: [...found] }))
      names.set(`${list}/${id}`, key ?? `#${id}`);
  }
  return rename(changes, (list, id) => names.get(`${list}/${id}`) ?? `#${id}`);
}

/** Values of new objects are those of the file, so only changes of stored objects have ids. */
const rename = (changes: readonly Change[], nameOf: Parameters<typeof nameReferences>[2]): Change[] =>
  changes.map((change) =>
    change.action === 'create'
      ? change
      : {
          ...change,
          fields: change.fields.map((field) => ({
            ...field,
            ...nameReferences(change.list as ListName, field, nameOf),
          })),
        },
  );
