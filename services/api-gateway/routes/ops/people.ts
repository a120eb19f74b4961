/** People for operators: who has an identifier, and who may be the same person. */
import { route } from '#libs/infrastructure/contract';
import { directory } from '#services/directory';

const root = '/api/ops/people';
const { findPeople, listDuplicates } = directory.rpcs;
const reading = { method: 'GET', tag: 'operations', auth: 'ops', scope: 'ops:read' } as const;

export const operatorPeopleRoutes = [
  route({
    ...reading,
    path: root,
    operationId: 'findPeople',
    summary: 'Find people by an identifier',
    description:
      'Compares the id, then the workspace key, the email of contact and accounts, the phone number and the name, and returns the people who match ' +
      'first. Identifiers of merged people return the surviving person; ids also return erased people.',
    query: findPeople.request,
    rpc: findPeople,
    replies: { 200: { description: 'The people.', schema: findPeople.reply } },
  }),
  route({
    ...reading,
    path: `${root}/duplicates`,
    operationId: 'listDuplicatePeople',
    summary: 'List possible duplicates',
    description: 'People who share an email or LinkedIn address, compared as on creation.',
    query: listDuplicates.request,
    rpc: listDuplicates,
    deadlineMs: listDuplicates.timeoutMs,
    replies: { 200: { description: 'A page of addresses with their people.', schema: listDuplicates.reply } },
  }),
];
