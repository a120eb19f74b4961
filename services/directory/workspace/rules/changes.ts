/** Collects the changes of an application per item, for counts and diff. */
import { listSome } from '#libs/infrastructure/audit';
import type { Static } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import type { workspaceChange } from '../contract.ts';
import { overwritesEdit, type WorkspaceEdits } from './edits.ts';
import { type FieldChange, toFileChanges } from './file-changes.ts';
import type { Target, Targets } from './resolve.ts';
import { keyFields, type ListName, listNames } from './vocabulary.ts';

type Change = Static<typeof workspaceChange>;

/** Maximum changes in the diff. Counts are always complete. */
const maxListed = 1_000;
/** Columns that can contain secrets. Their changes are reported without values. */
const secretColumns: Readonly<Record<string, string>> = { password_hash: 'password', config: 'config' };
const hiddenValue = '(not shown)';
/** Maximum paths per step in the audit log. */
const maxPaths = 50;

/**
 * Returns the label of an item in the diff and in `ids`, e.g. `ada/spring-2026/open-circle`. Emails are written as in
 * the file.
 */
export function labelOf(list: ListName, { item, key }: Target): string {
  if (list === 'accounts') return String(item.value['email']).trim();
  if ((list !== 'memberships' && list !== 'relationships') || typeof item.value['key'] === 'string') return key;
  const [left, right] = list === 'memberships' ? ['person', 'holon'] : ['from', 'to'];
  return [item.value[left], item.value[right], item.value['journey']]
    .filter((part) => typeof part === 'string')
    .join('/');
}

/** Origin of changes of step configuration, for its audit history. */
export interface ChangeOrigin {
  readonly source: 'api' | 'workspace';
  readonly accountId: number | null;
}

export class ChangeLog {
  readonly origin: ChangeOrigin;
  readonly #updates = new Map<ListName, Map<number, FieldChange[]>>();
  readonly #configured: { step_id: number; paths: readonly string[] }[] = [];

  constructor(origin: ChangeOrigin) {
    this.origin = origin;
  }

  /** Records changed dotted paths of a step's configuration. */
  addConfigured(stepId: number, paths: readonly string[]): void {
    this.#configured.push({ step_id: stepId, paths: paths.slice(0, maxPaths) });
  }

  /** Records changed columns of an item. `fields` is JSON text or already parsed. */
  addUpdate(list: ListName, id: number, fields: string | readonly FieldChange[], prefix = ''): void {
    const items = this.#updates.get(list) ?? new Map<number, FieldChange[]>();
    this.#updates.set(list, items);
    const known = items.get(id) ?? [];
    items.set(id, known);
    const given = typeof fields === 'string' ? (parseJson(fields) as FieldChange[]) : fields;
    for (const change of given) {
      known.push({ ...change, field: prefix + (secretColumns[change.field] ?? change.field) });
    }
  }

  /** Returns the row ids of changed items; with `fields`, only items with a change in one of these fields. */
  changedIds(list: ListName, fields?: readonly string[]): number[] {
    const items = [...(this.#updates.get(list) ?? [])];
    return items
      .filter(([, changes]) => fields === undefined || changes.some(({ field }) => fields.includes(field)))
      .map(([id]) => id);
  }

  /**
   * Returns the summary for the audit log (A1): counts per list, changed fields of accounts, changed configuration
   * paths. Keys and values are omitted, because they identify people.
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
    const updated = [...(this.#updates.get('accounts') ?? [])].map(([id, changes]) => ({
      id,
      fields: changes.map(({ field }) => field),
    }));
    const accounts = [...created, ...updated];
    return {
      lists: Object.fromEntries(counts),
      ...(accounts.length === 0 ? {} : { accounts: listSome(accounts, 'items') }),
      ...(this.#configured.length === 0 ? {} : { configuration: listSome(this.#configured, 'items') }),
    };
  }

  /** Returns the counts per item, and the diff in the order of the lists. */
  summarize(
    targets: Targets,
    edits: WorkspaceEdits,
  ): {
    created: number;
    updated: number;
    unchanged: number;
    diff: Change[];
    diff_truncated: boolean;
  } {
    const counts = { created: 0, updated: 0, unchanged: 0 };
    const diff: Change[] = [];
    let truncated = false;
    const show = (change: Change): void => {
      if (diff.length < maxListed) diff.push(change);
      else truncated = true;
    };
    for (const list of listNames) {
      for (const target of targets[list]) {
        const fields = target.storedId === undefined ? undefined : this.#updates.get(list)?.get(target.storedId);
        if (target.storedId === undefined) {
          counts.created++;
          show(describeCreation(list, target, edits));
        } else if (fields !== undefined && fields.length > 0) {
          counts.updated++;
          show(describeUpdate(list, target, fields, edits));
        } else {
          counts.unchanged++;
        }
      }
    }
    return { ...counts, diff, diff_truncated: truncated };
  }
}

/** Values of a new object are listed only if they bring an object back that was deleted over the API. */
function describeCreation(list: ListName, target: Target, { removed }: WorkspaceEdits): Change {
  const change = { list, key: labelOf(list, target), action: 'create' as const };
  if (!removed.has(target)) return { ...change, fields: [] };
  const fields = Object.entries(target.item.value)
    .filter(([field]) => field !== keyFields[list])
    .map(([field, value]) => hideSecret(list, { field, old: null, new: value, edited: true }));
  return { ...change, edited: true, fields };
}

function describeUpdate(
  list: ListName,
  target: Target,
  changes: readonly FieldChange[],
  edits: WorkspaceEdits,
): Change {
  const known = edits.of(list, target.storedId ?? 0);
  const fields = changes
    .flatMap((change) => toFileChanges(list, change))
    .map((change) => hideSecret(list, { ...change, ...(overwritesEdit(list, known, change) ? { edited: true } : {}) }));
  const isEdited = fields.some(({ edited }) => edited === true);
  return { list, key: labelOf(list, target), action: 'update', ...(isEdited ? { edited: true } : {}), fields };
}

/** Passwords and configurations of steps are reported without values. */
function hideSecret(list: ListName, change: Change['fields'][number]): Change['fields'][number] {
  const isSecret = list === 'accounts' ? change.field === 'password' : list === 'journeys' && hasConfig(change.field);
  return isSecret ? { ...change, old: change.old === null ? null : hiddenValue, new: hiddenValue } : change;
}

const hasConfig = (field: string): boolean => field === 'steps' || field.endsWith('.config');
