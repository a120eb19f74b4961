/** What an application does to each item of the file, for the counts and the diff. */
import { listSome } from '#libs/audit';
import type { Static } from '#libs/contract';
import { parseJson } from '#libs/json';
import type { workspaceChange } from '../contract.ts';
import type { Target, Targets } from './resolve.ts';
import { type ListName, listNames } from './vocabulary.ts';

type Change = Static<typeof workspaceChange>;
type FieldChange = Change['fields'][number];

/** Changes shown at most; the counts are always whole. */
const maxShown = 1_000;
/** Columns whose values may be secret: that they changed is told, not how. */
const secretColumns: Readonly<Record<string, string>> = { password_hash: 'password', config: 'config' };
const notShown = '(not shown)';
/** Paths that the audit log names of one step. */
const maxPaths = 50;

/** How an item without a key of its own is called in the diff and in `ids`: `ada/spring-2026/open-circle`; emails are shown as written. */
export function labelOf(list: ListName, { item, key }: Target): string {
  if (list === 'accounts') return String(item.value['email']).trim();
  if ((list !== 'memberships' && list !== 'relationships') || typeof item.value['key'] === 'string') return key;
  const [left, right] = list === 'memberships' ? ['person', 'holon'] : ['from', 'to'];
  return [item.value[left], item.value[right], item.value['journey']].filter((part) => typeof part === 'string').join('/');
}

export class ChangeLog {
  readonly #updates = new Map<ListName, Map<number, FieldChange[]>>();
  readonly #configured: { step_id: number; paths: readonly string[] }[] = [];

  /** Notes the dotted paths of a step's configuration that changed. */
  configured(stepId: number, paths: readonly string[]): void {
    this.#configured.push({ step_id: stepId, paths: paths.slice(0, maxPaths) });
  }

  /** Notes changed columns of the item with this row id; `fields` is JSON text or ready-made. */
  updated(list: ListName, id: number, fields: string | readonly FieldChange[], prefix = ''): void {
    const items = this.#updates.get(list) ?? new Map<number, FieldChange[]>();
    this.#updates.set(list, items);
    const known = items.get(id) ?? [];
    items.set(id, known);
    const given = typeof fields === 'string' ? (parseJson(fields) as FieldChange[]) : fields;
    for (const change of given) {
      const secret = list !== 'classes' ? secretColumns[change.field] : undefined;
      known.push(
        secret === undefined ? { ...change, field: prefix + change.field } : { field: prefix + secret, old: notShown, new: notShown },
      );
    }
  }

  /** Row ids of the list whose items changed; with `fields`, only those where one of these changed. */
  changedIds(list: ListName, fields?: readonly string[]): number[] {
    const items = [...(this.#updates.get(list) ?? [])];
    return items.filter(([, changes]) => fields === undefined || changes.some(({ field }) => fields.includes(field))).map(([id]) => id);
  }

  /**
   * For the audit log (A1): how many items of each list, which fields of which accounts, which paths of which step's configuration. Keys and values
   * of items are left out: they name people.
   */
  describe(targets: Targets, accountIdOf: (target: Target) => number): Record<string, unknown> {
    const counts = listNames.flatMap((list) => {
      const created = targets[list].filter(({ storedId }) => storedId === undefined).length;
      const updated = this.changedIds(list).length;
      return created + updated === 0 ? [] : [[list, { created, updated }] as const];
    });
    const created = targets.accounts
      .filter(({ storedId }) => storedId === undefined)
      .map((target) => ({ id: accountIdOf(target), created: true }));
    const updated = [...(this.#updates.get('accounts') ?? [])].map(([id, changes]) => ({ id, fields: changes.map(({ field }) => field) }));
    const accounts = [...created, ...updated];
    return {
      lists: Object.fromEntries(counts),
      ...(accounts.length === 0 ? {} : { accounts: listSome(accounts, 'items') }),
      ...(this.#configured.length === 0 ? {} : { configuration: listSome(this.#configured, 'items') }),
    };
  }

  /** Counts by item of the file, and the diff in the order of the lists. */
  summarize(targets: Targets): { created: number; updated: number; unchanged: number; diff: Change[]; diff_truncated: boolean } {
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const diff: Change[] = [];
    let truncated = false;
    const show = (change: Change): void => {
      if (diff.length < maxShown) diff.push(change);
      else truncated = true;
    };
    for (const list of listNames) {
      for (const target of targets[list]) {
        const fields = target.storedId === undefined ? undefined : this.#updates.get(list)?.get(target.storedId);
        if (target.storedId === undefined) {
          counts.created++;
          show({ list, key: labelOf(list, target), action: 'create', fields: [] });
        } else if (fields !== undefined && fields.length > 0) {
          counts.updated++;
          show({ list, key: labelOf(list, target), action: 'update', fields });
        } else {
          counts.unchanged++;
        }
      }
    }
    return { ...counts, diff, diff_truncated: truncated };
  }
}
