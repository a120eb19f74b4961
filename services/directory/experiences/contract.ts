/** Experiences of the open API (rules/holons#experiences, rules/media#logo; D51, D51a). */
import {
  byUsers,
  job,
  singleLine,
  nullable,
  withoutActor,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { anyId, HolonPublic, maxDescriptionLength, maxNameLength, rowId, v1Errors } from '../api-objects/contract.ts';
import { holonUpdate } from '../holons/contract.ts';

/** Root class of all experiences (D51a). */
export const experienceClassSlug = 'experience';

export const newExperience = Type.Object(
  {
    parent_id: Type.Integer({ description: 'Holon whose class allows an experience class as a child.' }),
    name: singleLine({
      maxLength: maxNameLength,
      description: 'Must not be blank. Leading and trailing whitespace is removed.',
    }),
    description: Type.String({
      maxLength: maxDescriptionLength,
      description: "Rich text, sanitised with the web editor's allowlist. Must not be blank.",
    }),
    svc_class: Type.Optional(
      Type.Union([singleLine(), Type.Null()], {
        description: 'An experience class that the parent allows. Default: its first one.',
      }),
    ),
    info_fields: holonUpdate.properties.info_fields,
  },
  { $id: 'ExperienceCreate' },
);
export type NewExperience = Static<typeof newExperience>;

const experienceReply = Type.Object({ experience: HolonPublic });

const logoSetting = Type.Object({
  experience_id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  blob_id: Type.Integer({
    minimum: 1,
    description: 'Increases with each logo of the holon; older logos do not replace newer ones.',
  }),
  logo_url: Type.String({ minLength: 1, maxLength: 500 }),
  changed_by: Type.Optional(
    Type.Object(
      { account_id: rowId, key_id: nullable(Type.String()), via: Type.Optional(Type.String({ maxLength: 20 })) },
      { description: 'The caller that uploaded the logo, for the history. Media of the previous release omits it.' },
    ),
  ),
});

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
        'Name or description is blank, the class is unknown or not allowed below the parent, or an info field is invalid.',
      ),
      ...v1Errors.denied('The caller cannot edit the parent.'),
      ...v1Errors.notFound('The parent does not exist, or the caller cannot see it.'),
    },
  }),
  checkExperienceLogo: rpc({
    subject: 'directory.experiences.check-logo',
    callers: { media: ['user'] },
    summary: 'Checks whether the caller can change the logo of an experience, before the upload starts.',
    request: Type.Object({ experience_id: anyId('Id of the experience.') }),
    reply: experienceReply,
    errors: {
      ...v1Errors.denied('The caller cannot edit the experience.'),
      ...v1Errors.notFound('The experience does not exist, or the caller cannot see it.'),
    },
  }),
  setExperienceLogo: rpc({
    subject: 'directory.experiences.set-logo',
    callers: { media: withoutActor },
    summary: 'Sets the logo of a holon, unless a newer one is set.',
    request: logoSetting,
    reply: Type.Object({ logo_url: nullable(Type.String({ description: 'Current logo of the holon.' })) }),
    errors: v1Errors.notFound('The holon does not exist.'),
  }),
} as const;

export const experienceJobs = {
  setExperienceLogo: job({
    type: 'directory.set-logo',
    startedBy: ['media'],
    summary: 'Sets the logo when the operation could not be called.',
    payload: logoSetting,
    policy: { maxAttempts: 20, timeoutMs: 30_000, concurrency: 2 },
  }),
} as const;
