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
      'Needs global edit access. With a membership and a note the note is on the feeds of person and holon, with a note alone on that of the person. ' +
      'One transaction: whatever is refused, nothing is written.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newPerson },
    rpc: directory.rpcs.createPerson,
    status: 201,
    replies: {
      201: { description: 'The person, and what came with it.', schema: directory.rpcs.createPerson.reply },
      409: { description: "Another person's email or LinkedIn address is the same.", schema: DuplicatePerson },
    },
  }),
];
