/** Lists of memberships (rules/memberships#membership-lists; D41, D47, D48, D50). */
import { badRequest } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Clock } from '#libs/time';
import type { directory } from '../../contract.ts';
import { isFollowUpPeriod, readToday, spanOf, type DateSpan } from '../../follow-up.ts';
import { readBody, readBodyFor } from '../../read-body.ts';
import { readViewer } from '../../viewer.ts';
import type { HolonMembershipsQuery } from '../contract.ts';
import { isMembershipSort, listHolonMemberships, listPersonMemberships } from '../statements/lists.ts';

export interface MembershipListOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Time zone of "today" (D50). */
  readonly timeZone: string;
}

type MembershipListHandlers = Pick<Handlers<typeof directory>, 'listPersonMemberships' | 'listHolonMemberships'>;

/** Items of a page when the caller does not say (rules/http#limits). */
const usualLimit = 50;

export function createMembershipListHandlers({ db, clock, timeZone }: MembershipListOptions): MembershipListHandlers {
  return {
    listPersonMemberships: ({ person_id: id, limit = usualLimit, offset = 0 }, { actor }) =>
      readBodyFor(db, actor, listPersonMemberships, id, limit, offset),
    listHolonMemberships: async ({ holon_id: id, ...query }, { actor }) => {
      const { sort = 'name', limit = usualLimit, offset = 0, q } = query;
      if (!isMembershipSort(sort)) throw badRequest(`sort cannot be "${sort}".`);
      const { kind, span } = readFollowUp(query.follow_up, readToday(clock, timeZone));
      const narrowed = [query.journey ?? null, query.step_slug ?? null, query.responsible_person_id ?? null];
      const dates = [kind, span?.from ?? null, span?.to ?? null];
      const params = [id, ...narrowed, ...dates, limit, offset, ...readViewer(actor), ...(q === undefined ? [] : [q])];
      return readBody(db, listHolonMemberships(sort, q !== undefined), ...params);
    },
  };
}

function readFollowUp(text: HolonMembershipsQuery['follow_up'], today: string): { kind: 'none' | 'span' | null; span?: DateSpan } {
  if (text === undefined) return { kind: null };
  if (text === 'none') return { kind: 'none' };
  if (!isFollowUpPeriod(text)) throw badRequest(`follow_up cannot be "${text}".`);
  return { kind: 'span', span: spanOf(new Set([text]), today) };
}
