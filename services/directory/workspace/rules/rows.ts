/**
 * Stored rows that a document refers to, and the document's items as rows: field names become columns, references
 * become ids.
 */
import type { JsonObject } from '#libs/infrastructure/json';
import type { ListName } from './vocabulary.ts';

export interface StepRow {
  readonly id: number;
  readonly journey_id: number;
  readonly slug: string;
  readonly position: number;
  readonly is_archived: boolean;
}

export interface EdgeRow {
  readonly id: number;
  readonly key: string | null;
  readonly left_id: number;
  readonly right_id: number;
  readonly journey_id: number | null;
}

export type EdgeList = 'memberships' | 'relationships';

export interface Stored {
  /** Map from key to id of existing rows that the document names. Emails are in lower case. */
  readonly ids: Readonly<Record<ListName, Map<string, number>>>;
  /** Keys of merged people. They resolve to the surviving person, whose values are not overwritten (I5). */
  readonly formerKeys: ReadonlySet<string>;
  /** Ids of the surviving people to which `formerKeys` resolve. */
  readonly mergedIds: ReadonlySet<number>;
  /** Steps of the named journeys, by journey id, in order. */
  readonly steps: Map<number, StepRow[]>;
  readonly edges: Readonly<Record<EdgeList, readonly EdgeRow[]>>;
}

/** Returns the id of an item of the file or the database. */
export type IdOf = (list: ListName, key: string) => number;

/** Reference fields and the id columns in which they are stored. */
export const referenceColumns: Readonly<
  Partial<Record<ListName, Readonly<Record<string, readonly [string, ListName]>>>>
> = {
  classes: { parent: ['parent_id', 'classes'] },
  journeys: { applies_to: ['applies_to_class_id', 'classes'] },
  holons: { class: ['class_id', 'classes'], parent: ['parent_id', 'holons'] },
  accounts: { person: ['person_id', 'people'] },
  memberships: {
    person: ['person_id', 'people'],
    holon: ['holon_id', 'holons'],
    journey: ['journey_id', 'journeys'],
    responsible: ['responsible_person_id', 'people'],
  },
  relationships: {
    from: ['from_holon_id', 'holons'],
    to: ['to_holon_id', 'holons'],
    journey: ['journey_id', 'journeys'],
    responsible: ['responsible_person_id', 'people'],
  },
};

/** Fields that are stored in other tables or transformed. */
const elsewhere: ReadonlySet<string> = new Set([
  'allowed_children',
  'journeys',
  'questions',
  'steps',
  'teams',
  'password',
  'step',
  'locations',
  'spheres',
]);

/** Returns the columns of an item's row. `isNew` adds defaults. */
export function columnsOf(list: ListName, value: JsonObject, idOf: IdOf, isNew: boolean): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const [field, given] of Object.entries(value)) {
    const reference = referenceColumns[list]?.[field];
    if (reference !== undefined) columns[reference[0]] = typeof given === 'string' ? idOf(reference[1], given) : null;
    else if (!elsewhere.has(field)) columns[list === 'accounts' && field === 'active' ? 'is_active' : field] = given;
  }
  if (list === 'accounts') columns['email'] = String(value['email']).trim();
  if (list === 'holons') addHolonInfos(columns, value, idOf);
  if (list === 'classes' && isNew) {
    columns['label'] ??= value['slug'];
    columns['plural_label'] ??= columns['label'];
  }
  return columns;
}

/** Locations and spheres are stored in the holon's infos (rules/holons#update-a-holon). */
function addHolonInfos(columns: Record<string, unknown>, value: JsonObject, idOf: IdOf): void {
  const extra: Record<string, unknown> = {};
  if (Array.isArray(value['locations'])) extra['locations'] = value['locations'];
  if (Array.isArray(value['spheres']))
    extra['spheres'] = (value['spheres'] as string[]).map((key) => idOf('spheres', key));
  if (Object.keys(extra).length > 0) columns['infos'] = { ...(value['infos'] as JsonObject | undefined), ...extra };
}

/** Returns the columns of a step. `position` is the step's index in the list. */
export function stepColumns(
  step: JsonObject,
  journeyId: number,
  position: number,
  isNew: boolean,
): Record<string, unknown> {
  const columns: Record<string, unknown> = { ...step, journey_id: journeyId, position };
  if (isNew) columns['title'] ??= step['slug'];
  return columns;
}
