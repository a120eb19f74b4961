/** Creation of people (rules/people#create-a-person; D43 to D44). */
import { route } from '#libs/contract';
import { directory, DuplicatePerson, newPerson } from '#services/directory';

export const peopleWriteRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/people',
    operationId: 'createPerson',
    tag: 'people',
    summary: 'Create a person',
    description:
      'Requires global edit access. With a membership, the note is listed for person and holon; otherwise for the person only. ' +
      'All objects are created in one transaction.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newPerson },
    rpc: directory.rpcs.createPerson,
    status: 201,
    replies: {
      201: { description: 'The person, and the created membership and note.', schema: directory.rpcs.createPerson.reply },
      409: { description: 'Another person has the same email or LinkedIn address.', schema: DuplicatePerson },
    },
  }),
];
