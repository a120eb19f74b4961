/** Decides the outcome of each bulk-add item (rules/memberships#bulk-add; D45, D45a). */
import { findActiveStep, findNextStep, isCalendarDate, type JourneyStep } from '../workflow/index.ts';
import type { BulkAdded } from './contract.ts';

type BulkOutcome = BulkAdded['items'][number]['outcome'];

/** A requested membership after the request's defaults are applied. */
export interface BulkItem {
  readonly personId: number;
  readonly journeySlug: string | null;
  readonly stepSlug: string | undefined;
  readonly followUpAfter: string | null;
  readonly responsiblePersonId: number | null;
}

export interface BulkJourney {
  readonly id: number;
  readonly slug: string;
  /** Whether the journey is in the effective catalogue of the holon's class. */
  readonly allowed: boolean;
  /** Whether the journey permits bulk addition. */
  readonly bulk_add: boolean;
  readonly steps: readonly JourneyStep[];
}

/** Stored facts about the items. */
export interface BulkFacts {
  readonly people: ReadonlySet<number>;
  /** People with a user account. Only they can be responsible. */
  readonly accountable: ReadonlySet<number>;
  readonly journeys: ReadonlyMap<string, BulkJourney>;
  /** Existing memberships of the holon: map from `tripleKey` to id. */
  readonly present: ReadonlyMap<string, number>;
}

/** A membership to insert. */
export interface NewMembership {
  /** Index of the item in the request. */
  readonly index: number;
  readonly person_id: number;
  readonly journey_id: number;
  readonly step_id: number | null;
  readonly follow_up_after: string | null;
  readonly responsible_person_id: number | null;
}

export interface BulkDecision {
  readonly outcome: BulkOutcome;
  readonly message: string | null;
  /** `tripleKey` of the created or existing membership; null if the item failed. */
  readonly key: string | null;
}

/** Returns the key that identifies a membership within a holon. */
export const tripleKey = (personId: number, journeyId: number): string => `${personId}/${journeyId}`;

/**
 * Decides items in order, as if each were added before the next: a duplicate resolves to the first item's membership.
 * An existing membership is reported as present whatever the item's other fields are, so retries return the same result
 * after catalogue changes.
 */
export function decideBulk(
  items: readonly BulkItem[],
  facts: BulkFacts,
): { decisions: BulkDecision[]; added: NewMembership[] } {
  const added: NewMembership[] = [];
  const known = new Set(facts.present.keys());
  const decisions = items.map((item, index): BulkDecision => {
    if (!facts.people.has(item.personId)) return fail('person_not_found', 'The person does not exist.');
    if (item.journeySlug === null) return fail('journey_not_found', 'journey_slug is missing.');
    const journey = facts.journeys.get(item.journeySlug);
    if (journey === undefined) return fail('journey_not_found', 'The journey does not exist.');
    const key = tripleKey(item.personId, journey.id);
    if (known.has(key)) return { outcome: 'already_present', message: null, key };
    const refused = refuseItem(item, journey, facts);
    if (refused !== undefined) return refused;
    known.add(key);
    const step =
      item.stepSlug === undefined ? findNextStep(journey.steps, null) : findActiveStep(journey.steps, item.stepSlug);
    added.push({
      index,
      person_id: item.personId,
      journey_id: journey.id,
      step_id: step?.id ?? null,
      follow_up_after: item.followUpAfter,
      responsible_person_id: item.responsiblePersonId,
    });
    return { outcome: 'created', message: null, key };
  });
  return { decisions, added };
}

function refuseItem(item: BulkItem, journey: BulkJourney, { accountable }: BulkFacts): BulkDecision | undefined {
  if (!journey.allowed) return fail('journey_not_allowed', "The journey is not in the catalogue of the holon's class.");
  if (!journey.bulk_add) return fail('bulk_add_not_permitted', 'The journey does not permit bulk addition.');
  if (item.stepSlug !== undefined && findActiveStep(journey.steps, item.stepSlug) === undefined) {
    return fail('invalid_step', 'The journey has no such active step.');
  }
  if (item.followUpAfter !== null && !isCalendarDate(item.followUpAfter)) {
    return fail('invalid_field', 'follow_up_after must be a date of the form YYYY-MM-DD.');
  }
  if (item.responsiblePersonId !== null && !accountable.has(item.responsiblePersonId)) {
    return fail('invalid_field', 'responsible_person_id must be a person with a user account.');
  }
  return undefined;
}

function fail(outcome: BulkOutcome, message: string): BulkDecision {
  return { outcome, message, key: null };
}
