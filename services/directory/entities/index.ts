import { AccountSchema, LoginSessionSchema, TeamAuthoritySchema } from './account.entity.ts';
import { ErasureSchema, StepConfigAuditSchema } from './audit.entity.ts';
import { ClassAllowedChildSchema, ObjectClassSchema, SphereSchema } from './class.entity.ts';
import { HolonJourneySchema, HolonSchema } from './holon.entity.ts';
import { ClassJourneySchema, JourneyQuestionSchema, JourneySchema, JourneyStepSchema } from './journey.entity.ts';
import { HolonNoteSchema, MembershipSchema, NoteSchema, PersonNoteSchema, RelationshipSchema } from './membership.entity.ts';
import { PersonSchema } from './person.entity.ts';

/** Every entity of the schema `directory`. Plumbing (login throttle, uploads, jobs, outbox) has none. */
export const entities = [
  AccountSchema,
  ClassAllowedChildSchema,
  ClassJourneySchema,
  ErasureSchema,
  HolonJourneySchema,
  HolonNoteSchema,
  HolonSchema,
  JourneyQuestionSchema,
  JourneySchema,
  JourneyStepSchema,
  LoginSessionSchema,
  MembershipSchema,
  NoteSchema,
  ObjectClassSchema,
  PersonNoteSchema,
  PersonSchema,
  RelationshipSchema,
  SphereSchema,
  StepConfigAuditSchema,
  TeamAuthoritySchema,
];
