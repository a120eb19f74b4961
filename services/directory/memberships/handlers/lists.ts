/** Lists of memberships (rules/memberships#membership-lists; D41, D47, D48, D50). */
import { badRequest } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import { bodyOf } from '../../body.ts';
import type { directory } from '../../contract.ts';
import { isFollowUpPeriod, spanOf, type DateSpan, type Today } from '../../follow-up.ts';
import { readViewer } from '../../viewer.ts';
import { type HolonMembershipsQuery, membershipsPerPage } from '../contract.ts';
import { findHolonMemberships, isMembershipSort, listHolonMemberships, listPersonMemberships } from '../statements/lists.ts';

export interface MembershipListOptions {
  readonly db: Database;
  /** In the time zone of worklists (D50). */
  readonly today: Today;
}

type MembershipListHandlers = Pick<Handlers<typeof directory>, 'listPersonMemberships' | 'listHolonMemberships'>;

export function createMembershipListHandlers({ db, today }: MembershipListOptions): MembershipListHandlers {
  return {
    listPersonMemberships: async ({ person_id: personId, limit = membershipsPerPage, offset = 0 }, { actor }) =>
      bodyOf(await listPersonMemberships(db, { personId, limit, offset, ...readViewer(actor) })),
    listHolonMemberships: async ({ holon_id: holonId, ...query }, { actor }) => {
      const { sort = 'name', limit = membershipsPerPage, offset = 0, q: text } = query;
      if (!isMembershipSort(sort)) throw badRequest(`sort cannot be "${sort}".`);
      const { kind, span } = readFollowUp(query.follow_up, today);
      const { journey, step_slug: step, responsible_person_id: responsiblePersonId } = query;
      const dates = { followUp: kind, from: span?.from, to: span?.to };
      const asked = { holonId, journey, step, responsiblePersonId, ...dates, limit, offset, ...readViewer(actor) };
      return bodyOf(
        await (text === undefined ? listHolonMemberships[sort](db, asked) : findHolonMemberships[sort](db, { ...asked, text })),
      );
    },
  };
}

function readFollowUp(text: HolonMembershipsQuery['follow_up'], today: Today): { kind: 'none' | 'span' | null; span?: DateSpan } {
  if (text === undefined) return { kind: null };
  if (text === 'none') return { kind: 'none' };
  if (!isFollowUpPeriod(text)) throw badRequest(`follow_up cannot be "${text}".`);
  return { kind: 'span', span: spanOf(new Set([text]), today()) };
}
