/** Lists of memberships, relationships and notes, and the worklist (rules/memberships#worklist; D41, D47, D47a, D48, D50). */
import { AppError } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Clock } from '#libs/time';
import type { directory, HolonMembershipsQuery } from '../../contract.ts';
import { followUpPeriods, readToday, spanOf, type DateSpan, type FollowUpPeriod } from '../../follow-up.ts';
import { readViewer } from '../../viewer.ts';
import { isMembershipSort, listHolonMemberships, listPersonMemberships } from '../statements/lists.ts';
import { listNotesOfHolon, listNotesOfPerson } from '../../repositories/v1/note-lists.ts';
import { listHolonRelationships } from '../../relationships/statements.ts';
import { findClassSubtrees, listWorklist, type ClassSubtreeRow } from '../../worklist/statements.ts';
import { readBody, readBodyFor } from '../../read-body.ts';

export interface WorkflowListOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Time zone of "today" (D50). */
  readonly timeZone: string;
}

type WorkflowListHandlers = Pick<
  Handlers<typeof directory>,
  'listPersonMemberships' | 'listHolonMemberships' | 'listHolonRelationships' | 'listNotesOfPerson' | 'listNotesOfHolon' | 'listResponsible'
>;

/** Items of a page when the caller does not say (rules/http#limits). */
const usualLimit = 50;
const usualWorklistLimit = 100;

export function createWorkflowListHandlers({ db, clock, timeZone }: WorkflowListOptions): WorkflowListHandlers {
  const today = (): string => readToday(clock, timeZone);
  return {
    listPersonMemberships: ({ person_id: id, limit = usualLimit, offset = 0 }, { actor }) =>
      readBodyFor(db, actor, listPersonMemberships, id, limit, offset),
    listHolonMemberships: async ({ holon_id: id, ...query }, { actor }) => {
      const { sort = 'name', limit = usualLimit, offset = 0, q } = query;
      if (!isMembershipSort(sort)) throw refuse(`sort cannot be "${sort}".`);
      const { kind, span } = readFollowUp(query.follow_up, today());
      const narrowed = [query.journey ?? null, query.step_slug ?? null, query.responsible_person_id ?? null];
      const dates = [kind, span?.from ?? null, span?.to ?? null];
      const params = [id, ...narrowed, ...dates, limit, offset, ...readViewer(actor), ...(q === undefined ? [] : [q])];
      return readBody(db, listHolonMemberships(sort, q !== undefined), ...params);
    },
    listHolonRelationships: ({ holon_id: id, limit = usualLimit }, { actor }) => readBodyFor(db, actor, listHolonRelationships, id, limit),
    listNotesOfPerson: ({ person_id: id, limit = usualLimit }, { actor }) => readBodyFor(db, actor, listNotesOfPerson, id, limit),
    listNotesOfHolon: ({ holon_id: id, limit = usualLimit }, { actor }) => readBodyFor(db, actor, listNotesOfHolon, id, limit),
    listResponsible: async ({ responsible, type, when, limit = usualWorklistLimit, offset = 0 }, { actor }) => {
      const span = readWhen(when, today());
      const { memberships, classIds } = await readTypes(db, type);
      const { statement, params } = listWorklist({
        limit,
        offset,
        viewer: readViewer(actor),
        responsibleId: responsible,
        span,
        memberships,
        classIds,
      });
      return readBody(db, statement, ...params);
    },
  };
}

function refuse(message: string): AppError {
  return new AppError({ code: 'bad_request', message });
}

function readFollowUp(text: HolonMembershipsQuery['follow_up'], today: string): { kind: 'none' | 'span' | null; span?: DateSpan } {
  if (text === undefined) return { kind: null };
  if (text === 'none') return { kind: 'none' };
  if (!isPeriod(text)) throw refuse(`follow_up cannot be "${text}".`);
  return { kind: 'span', span: spanOf(new Set([text]), today) };
}

function readWhen(text: string | undefined, today: string): DateSpan | undefined {
  const tokens = readTokens(text);
  const periods = tokens.filter(isPeriod);
  const unknown = tokens.find((token) => !isPeriod(token));
  if (unknown !== undefined) throw refuse(`when cannot be "${unknown}".`);
  return periods.length === 0 ? undefined : spanOf(new Set(periods), today);
}

/** Without types everything; else memberships only where they are named, and relationships of the classes. */
async function readTypes(
  db: Database,
  text: string | undefined,
): Promise<{ memberships: boolean; classIds: readonly number[] | undefined }> {
  const tokens = readTokens(text);
  if (tokens.length === 0) return { memberships: true, classIds: undefined };
  const slugs = tokens.filter((token) => token !== 'person');
  const found = slugs.length === 0 ? [] : await db.query<ClassSubtreeRow>(findClassSubtrees, [slugs]);
  const unknown = slugs.find((slug) => !found.some((row) => row.slug === slug));
  if (unknown !== undefined) throw refuse(`type cannot be "${unknown}".`);
  return { memberships: tokens.includes('person'), classIds: [...new Set(found.flatMap(({ ids }) => ids))] };
}

/** Comma-separated words, empty ones dropped. */
function readTokens(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((token) => (token.trim() === '' ? [] : [token.trim()]));
}

function isPeriod(text: string): text is FollowUpPeriod {
  return (followUpPeriods as readonly string[]).includes(text);
}
