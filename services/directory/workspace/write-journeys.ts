/** Writes steps and questions of journeys. Their order is their index in the file. */
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import type { Tx } from '#libs/infrastructure/orm';
import { addConfigAudit, lockSteps } from '../journeys/index.ts';
import type { ChangeLog } from './rules/changes.ts';
import type { Target } from './rules/resolve.ts';
import { stepColumns, type Stored } from './rules/rows.ts';
import { findQuestions, type QuestionRow } from './statements/lookups.ts';
import { insertAll, type Row, allocateRowIds, updateAll } from './statements/tables.ts';

type JourneyIdOf = (target: Target) => number;

/** Writes the listed steps; the positions of other steps do not change. Returns a map from `<journey>/<step>` to id. */
export async function writeSteps(
  tx: Tx,
  journeys: readonly Target[],
  stored: Stored,
  journeyIdOf: JourneyIdOf,
  log: ChangeLog,
): Promise<Map<string, number>> {
  const ids = new Map<string, number>();
  const updates: Row[] = [];
  const fresh: { name: string; journeyId: number; values: Record<string, unknown> }[] = [];
  const owners = new Map<number, { journeyId: number; slug: string }>();
  for (const target of journeys) {
    const journeyId = journeyIdOf(target);
    const steps = (target.item.value['steps'] ?? []) as JsonObject[];
    const rows = stored.steps.get(journeyId) ?? [];
    // A complete list in stored order changes no positions, since positions can have gaps from partial files.
    const inOrder =
      target.isOrderFixed === true ||
      (rows.length === steps.length && rows.every((row, index) => row.slug === steps[index]?.['slug']));
    for (const [index, step] of steps.entries()) {
      const slug = String(step['slug']);
      const known = rows.find((row) => row.slug === slug);
      const position = inOrder && known !== undefined ? known.position : index;
      const values = stepColumns(step, journeyId, position, known === undefined);
      if (known === undefined) {
        fresh.push({ name: `${target.key}/${slug}`, journeyId, values });
        continue;
      }
      ids.set(`${target.key}/${slug}`, known.id);
      owners.set(known.id, { journeyId, slug });
      updates.push({ id: known.id, values });
    }
  }
  const freshIds = await allocateRowIds(tx, 'steps', fresh.length);
  const inserts = fresh.map(({ name, journeyId, values }, index): Row => {
    const id = freshIds[index] ?? 0;
    ids.set(name, id);
    log.addUpdate('journeys', journeyId, [{ field: `steps.${String(values['slug'])}`, old: null, new: 'new step' }]);
    return { id, values };
  });
  await insertAll(tx, 'steps', inserts);
  // The update merges with the stored configuration, so a concurrent PATCH must wait.
  if (updates.length > 0) await lockSteps(tx, { ids: updates.map(({ id }) => id) });
  for (const { id, fields } of await updateAll(tx, 'steps', updates)) {
    const owner = owners.get(id);
    if (owner === undefined) continue;
    log.addUpdate('journeys', owner.journeyId, fields, `steps.${owner.slug}.`);
    const paths = configPaths(fields);
    if (paths.length === 0) continue;
    await addConfigAudit(tx, { stepId: id, ...log.origin, paths });
    log.addConfigured(id, paths);
  }
  return ids;
}

/** Returns the changed dotted paths of a step's configuration, for the audit history. */
function configPaths(fields: string): string[] {
  const changes = parseJson(fields) as { field: string; old: unknown; new: unknown }[];
  return changes.flatMap(({ field, old, new: next }) => {
    if (field === 'pipeline_job') return ['pipeline_job'];
    return field === 'config' ? changedPaths(old, next, []) : [];
  });
}

/** Returns the dotted paths at which two documents differ. A list counts as one value. */
export function changedPaths(old: unknown, next: unknown, path: readonly string[]): string[] {
  if (!isJsonObject(old) || !isJsonObject(next))
    return JSON.stringify(old) === JSON.stringify(next) ? [] : [path.join('.')];
  const keys = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...keys].flatMap((key) => changedPaths(ownValue(old, key), ownValue(next, key), [...path, key]));
}

function ownValue(value: JsonObject, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Replaces the questions of a journey. Questions with an unchanged text remain; the others are archived. */
export async function writeQuestions(
  tx: Tx,
  journeys: readonly Target[],
  journeyIdOf: JourneyIdOf,
  log: ChangeLog,
): Promise<void> {
  const given = journeys.filter(({ item }) => Array.isArray(item.value['questions']));
  const storedIds = given.filter(({ storedId }) => storedId !== undefined).map(journeyIdOf);
  const rows = storedIds.length === 0 ? [] : await findQuestions(tx, { journeyIds: storedIds });
  const storedOf = Map.groupBy(rows, (row) => row.journey_id);
  const fresh: Record<string, unknown>[] = [];
  const updates: Row[] = [];
  for (const target of given) {
    const journeyId = journeyIdOf(target);
    const unmatched = [...(storedOf.get(journeyId) ?? [])];
    const listed = (target.item.value['questions'] as JsonObject[]).map((question) => ({
      text: String(question['text']),
      is_archived: question['is_archived'] === true,
    }));
    const matches = listed.map(({ text, is_archived: isArchived }) => {
      const exact = unmatched.findIndex((row) => row.text === text && row.is_retired === isArchived);
      const index = exact < 0 ? unmatched.findIndex((row) => row.text === text) : exact;
      return index < 0 ? undefined : unmatched.splice(index, 1)[0];
    });
    const old = (storedOf.get(journeyId) ?? []).filter((row) => !row.is_retired || matches.includes(row));
    const before = old.map(describeQuestion);
    // Listed questions in stored order keep their positions, since archived ones can be between them.
    const inOrder = matches.length === old.length && matches.every((row, index) => row === old[index]);
    for (const [index, { text, is_archived: isArchived }] of listed.entries()) {
      const match = matches[index];
      const position = inOrder && match !== undefined ? match.position : index;
      if (match === undefined) fresh.push({ journey_id: journeyId, text, position, is_retired: isArchived });
      else updates.push({ id: match.id, values: { position, is_retired: isArchived } });
    }
    for (const row of unmatched) if (!row.is_retired) updates.push({ id: row.id, values: { is_retired: true } });
    if (JSON.stringify(before) !== JSON.stringify(listed))
      log.addUpdate('journeys', journeyId, [{ field: 'questions', old: before, new: listed }]);
  }
  const ids = await allocateRowIds(tx, 'questions', fresh.length);
  await insertAll(
    tx,
    'questions',
    fresh.map((values, index): Row => ({ id: ids[index] ?? 0, values })),
  );
  await updateAll(tx, 'questions', updates);
}

const describeQuestion = ({ text, is_retired: isRetired }: QuestionRow) => ({ text, is_archived: isRetired });
