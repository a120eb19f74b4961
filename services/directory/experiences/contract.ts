/** Experiences of the open API (rules/holons#experiences, rules/media#logo; D51, D51a). */
import { byUsers, job, singleLine, nullable, withoutActor, rpc, type Static, Type } from '#libs/contract';
import { anyId, HolonPublic, maxDescriptionLength, maxNameLength, v1Errors } from '../api-objects/contract.ts';
import { holonUpdate } from '../holons/contract.ts';

/** Root of the class tree whose holons are experiences (D51a). */
export const experienceClassSlug = 'experience';

export const newExperience = Type.Object(
  {
    parent_id: Type.Integer({ description: 'Holon whose class allows an experience class as a child.' }),
    name: singleLine({ maxLength: maxNameLength, description: 'Trimmed; not blank.' }),
    description: Type.String({
      maxLength: maxDescriptionLength,
      description: "Rich text; sanitised with the web editor's allowlist. Not blank.",
    }),
    svc_class: Type.Optional(
      Type.Union([singleLine(), Type.Null()], {
        description: "An experience class that the parent allows; default the parent's first one.",
      }),
    ),
    info_fields: holonUpdate.properties.info_fields,
  },
  { $id: 'NewExperience' },
);
export type NewExperience = Static<typeof newExperience>;

const experienceReply = Type.Object({ experience: HolonPublic });

const logoSetting = Type.Object({
  experience_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  blob_id: Type.Integer({ minimum: 1, description: 'Rises with each logo of the holon; an older one does not replace a newer one.' }),
  logo_url: Type.String({ minLength: 1, maxLength: 500 }),
});

/** To be spread into the contract of the directory. */
export const experienceRpcs = {
  createExperience: rpc({
    subject: 'directory.experiences.create',
    callers: byUsers,
    idempotent: true,
    summary: 'Creates an experience below a holon (rules/holons#experiences).',
    request: newExperience,
    reply: experienceReply,
    errors: {
      ...v1Errors.validation(
        'Name or description is blank, the class is unknown or not allowed below the parent, or an info field is refused.',
      ),
      ...v1Errors.denied('The caller may not edit the parent.'),
      ...v1Errors.notFound('No such parent, or none that the caller may see.'),
    },
  }),
  checkExperienceLogo: rpc({
    subject: 'directory.experiences.check-logo',
    callers: { media: ['user'] },
    summary: 'Whether the caller may change the logo of an experience; asked before a byte of it is accepted.',
    request: Type.Object({ experience_id: anyId('Id of the experience.') }),
    reply: experienceReply,
    errors: {
      ...v1Errors.denied('The caller may not edit the experience.'),
      ...v1Errors.notFound('No such experience, or none that the caller may see.'),
    },
  }),
  setExperienceLogo: rpc({
    subject: 'directory.experiences.set-logo',
    callers: { media: withoutActor },
    summary: 'Makes a stored picture the logo of a holon, unless a newer one is set already.',
    request: logoSetting,
    reply: Type.Object({ logo_url: nullable(Type.String({ description: 'The logo that the holon has now.' })) }),
    errors: v1Errors.notFound('No such holon.'),
  }),
} as const;

/** To be spread into the contract of the directory. */
export const experienceJobs = {
  setExperienceLogo: job({
    type: 'directory.set-logo',
    startedBy: ['media'],
    summary: 'As the operation, for when it could not be reached.',
    payload: logoSetting,
    policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 2 },
  }),
} as const;
