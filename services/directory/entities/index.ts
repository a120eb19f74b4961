import {
  AccountSchema,
  IdentitySchema,
  InvitationSchema,
  LoginAttemptSchema,
  LoginSessionSchema,
  ServiceKeySchema,
  TeamAuthoritySchema,
} from './account.entity.ts';
import {
  DeletedPrivateHolonSchema,
  ErasureSchema,
  PersonErasureSchema,
  StepConfigAuditSchema,
  WorkspaceUploadSchema,
} from './audit.entity.ts';
import {
  ClassAllowedChildSchema,
  HolonJourneySchema,
  HolonSchema,
  ObjectClassSchema,
  SphereSchema,
} from './holon.entity.ts';
import { ClassJourneySchema, JourneyQuestionSchema, JourneySchema, JourneyStepSchema } from './holon.entity.ts';
import {
  HolonNoteSchema,
  MembershipSchema,
  NoteSchema,
  PersonNoteSchema,
  RelationshipSchema,
} from './membership.entity.ts';
import { MergedPersonSchema, PersonAliasSchema, PersonSchema } from './person.entity.ts';

/**
 * All tables of the schema `directory` that have a key, except the tables of the job library. The trigger-maintained
 * tables of counts and channel values have no key. Generated search columns are declared in migrations.
 */
export const entities = [
  AccountSchema,
  ClassAllowedChildSchema,
  ClassJourneySchema,
  DeletedPrivateHolonSchema,
  ErasureSchema,
  HolonJourneySchema,
  HolonNoteSchema,
  HolonSchema,
  IdentitySchema,
  InvitationSchema,
  JourneyQuestionSchema,
  JourneySchema,
  JourneyStepSchema,
  LoginAttemptSchema,
  LoginSessionSchema,
  MembershipSchema,
  MergedPersonSchema,
  NoteSchema,
  ObjectClassSchema,
  PersonAliasSchema,
  PersonErasureSchema,
  PersonNoteSchema,
  PersonSchema,
  RelationshipSchema,
  ServiceKeySchema,
  SphereSchema,
  StepConfigAuditSchema,
  TeamAuthoritySchema,
  WorkspaceUploadSchema,
];
