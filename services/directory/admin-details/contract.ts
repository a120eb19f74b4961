/**
 * Read operations of the admin CLI: one person or holon with details, private holons included.
 */
import { byOperators, rpc, Type } from '#libs/contract';
import { anyId, page, PersonPublic, v1Errors } from '../api-objects/contract.ts';
import { MembershipWithHolon } from '../memberships/contract.ts';

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
} as const;
