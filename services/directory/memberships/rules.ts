/** What becomes of each item of a bulk-add (rules/memberships#bulk-add; D45, D45a). */
import { findActiveStep, findNextStep, isCalendarDate, type JourneyStep } from '../workflow/index.ts';
import type { BulkAdded } from './contract.ts';

type BulkOutcome = BulkAdded['items'][number]['outcome'];

/** One membership that is asked for, defaults of the request filled in. */
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
  /** In the effective catalogue of the holon's class. */
  readonly allowed: boolean;
  /** Permits bulk addition. */
  readonly bulk_add: boolean;
  readonly steps: readonly JourneyStep[];
}

/** What the database knows about everything that the items name. */
export interface BulkFacts {
  readonly people: ReadonlySet<number>;
  /** People with a user account. */
  readonly accountable: ReadonlySet<number>;
  readonly journeys: ReadonlyMap<string, BulkJourney>;
  /** `tripleKey` → membership id, in this holon. */
  readonly present: ReadonlyMap<string, number>;
}

/** A membership to insert. */
export interface NewMembership {
  /** Place of the item in the request. */
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
  /** `tripleKey` of the membership that is created or was there; null for a failure. */
  readonly key: string | null;
}

/** What identifies a membership inside one holon. */
export const tripleKey = (personId: number, journeyId: number): string => `${personId}/${journeyId}`;

/**
 * Decides the items in their order, as if each were added before the next is looked at: a repeat finds the membership of the first, and what
 * is present stays present, whatever else its item says, so that a retry after any change of the catalogue answers the same.
 */
export function decideBulk(items: readonly BulkItem[], facts: BulkFacts): { decisions: BulkDecision[]; added: NewMembership[] } {
  const added: NewMembership[] = [];
  const known = new Set(facts.present.keys());
  const decisions = items.map((item, index): BulkDecision => {
    if (!facts.people.has(item.personId)) return fail('person_not_found', 'There is no such person.');
    if (item.journeySlug === null) return fail('journey_not_found', 'No journey is named.');
    const journey = facts.journeys.get(item.journeySlug);
    if (journey === undefined) return fail('journey_not_found', 'There is no such journey.');
    const key = tripleKey(item.personId, journey.id);
    if (known.has(key)) return { outcome: 'already_present', message: null, key };
    const refused = refuseItem(item, journey, facts);
    if (refused !== undefined) return refused;
    known.add(key);
    const step = item.stepSlug === undefined ? findNextStep(journey.steps, null) : findActiveStep(journey.steps, item.stepSlug);
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
