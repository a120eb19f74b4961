/**
 * Read operations of the admin CLI: one person or holon with details, private holons included.
 */
import { byOperators, rpc, Type } from '#libs/contract';
import { anyId, HolonDetail, page, PersonPublic, v1Errors } from '../api-objects/contract.ts';
import { MembershipWithHolon, MembershipWithPerson } from '../memberships/contract.ts';
import { Relationship } from '../relationships/contract.ts';

const part = {
  limit: Type.Integer({ minimum: 1, maximum: 200, description: 'Rows per list.' }),
  offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Rows to skip.' }),
};

export const adminDetailRpcs = {
  showPerson: rpc({
    subject: 'admin.directory.people.show',
    callers: byOperators,
    summary: 'Returns a person with a page of their memberships.',
    request: Type.Object({ person_id: anyId('Id of the person.'), ...part }),
    reply: Type.Object({
      person: PersonPublic,
      memberships: page(MembershipWithHolon),
    }),
    errors: v1Errors.notFound('The person does not exist.'),
  }),
  showHolon: rpc({
    subject: 'admin.directory.holons.show',
    callers: byOperators,
    summary: 'Returns a holon with a page of its memberships and relationships.',
    request: Type.Object({ holon_id: anyId('Id of the holon.'), ...part }),
    reply: Type.Object({
      holon: HolonDetail,
      memberships: page(MembershipWithPerson),
      relationships: Type.Object({
        count: Type.Integer({ minimum: 0, description: 'Total number.' }),
        items: Type.Array(Relationship),
      }),
    }),
    errors: v1Errors.notFound('No holon has the id.'),
  }),
} as const;
