/** Contract: one person or holon with what hangs on it, private holons too; for the admin CLI. */
import { byOperators, rpc, Type } from '#libs/contract';
import { anyId, page, v1Errors } from '../fields.ts';
import { MembershipWithHolon, MembershipWithPerson } from '../memberships/contract.ts';
import { HolonPublic, PersonPublic } from '../public-schemas.ts';
import { Relationship } from '../relationships/contract.ts';

const part = {
  limit: Type.Integer({ minimum: 1, maximum: 200, description: 'Rows of each list.' }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Rows before them.' }),
};

/** To be spread into the contract of the directory. */
export const showingRpcs = {
  showPerson: rpc({
    subject: 'admin.directory.people.show',
    callers: byOperators,
    summary: 'One person with a page of their memberships.',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...part }),
    reply: Type.Object({
      person: PersonPublic,
      memberships: page(MembershipWithHolon),
    }),
    errors: v1Errors.notFound('No person has the id.'),
  }),
  showHolon: rpc({
    subject: 'admin.directory.holons.show',
    callers: byOperators,
    summary: 'One holon with a page of its memberships and of its relationships.',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...part }),
    reply: Type.Object({
      holon: HolonPublic,
      memberships: page(MembershipWithPerson),
      relationships: Type.Object({ count: Type.Integer({ minimum: 0, description: 'Of all pages.' }), items: Type.Array(Relationship) }),
    }),
    errors: v1Errors.notFound('No holon has the id.'),
  }),
} as const;
