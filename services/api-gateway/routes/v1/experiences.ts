/** Experiences and their logos (rules/holons#experiences, rules/media#logo; D51, D51a). */
import { route, Type } from '#libs/contract';
import { directory, newExperience } from '#services/directory';
import { mediaPaths } from '#services/media';

export const experienceRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/experiences',
    operationId: 'createExperience',
    tag: 'experiences',
    summary: 'Create an experience',
    description: 'Creates a holon of an experience class below a holon whose class allows it.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newExperience },
    rpc: directory.rpcs.createExperience,
    status: 201,
    replies: { 201: { description: 'The experience.', schema: directory.rpcs.createExperience.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/experiences/{experience_id}/logo',
    operationId: 'uploadExperienceLogo',
    tag: 'experiences',
    summary: 'Upload the logo of an experience',
    description:
      'Overrides the background image. The file type is detected from its bytes; metadata is removed. `logo_url` of the experience is the URL of the new ' +
      'logo, which needs no token. If the logo is rejected, the previous one remains.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ experience_id: Type.Integer({ description: 'Id of the experience.' }) }),
    upload: { part: 'logo', description: 'A jpeg, png, gif or webp image of at most 5 242 880 bytes.' },
    handler: 'media',
    idempotent: true,
    forwardTo: ({ params: { experience_id } }) => mediaPaths.holonLogo(experience_id),
    deadlineMs: 120_000,
    replies: { 200: { description: 'The experience with its new logo.', schema: directory.rpcs.checkExperienceLogo.reply } },
    errors: {
      bad_request: { code: 'bad_request', when: 'The file is larger than 5 MB, is not an image of these types, or cannot be decoded.' },
      permission_denied: { code: 'permission_denied', when: 'The caller cannot edit the experience.' },
      not_found: { code: 'not_found', when: 'The experience does not exist or is not visible to the caller.' },
    },
  }),
];
