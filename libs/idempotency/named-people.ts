/** People named by a request and its response (I4): erasing a person removes the records that name them. */
import { isPossibleId } from '#libs/contract';

/** Ids at `…person_id` and `…person_ids`, and of people as the open API shows them, however deep, each once. */
export function listNamedPeople(...values: readonly unknown[]): number[] {
  const ids = new Set<number>();
  const add = (id: unknown): void => {
    if (typeof id === 'number' && isPossibleId(id)) ids.add(id);
  };
  const pending: unknown[] = [...values];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value !== 'object' || value === null) continue;
    const fields = value as Readonly<Record<string, unknown>>;
    if ('actor_kind' in fields) add(fields['id']);
    for (const key of Object.keys(fields)) {
      const item = fields[key];
      if (/(?:^|_)person_id$/.test(key)) add(item);
      else if (/(?:^|_)person_ids$/.test(key) && Array.isArray(item)) item.forEach(add);
      pending.push(item);
    }
  }
  return [...ids];
}
