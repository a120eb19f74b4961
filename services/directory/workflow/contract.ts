/** What memberships, relationships and worklists of the open API have in common (rules/memberships#updates; D46, D47a). */
import { singleLine, nullable, Type } from '#libs/contract';
import { maxNoteLength, PersonPublic } from '../api-objects/contract.ts';

/** What items of memberships, relationships and worklists have in common. */
export const workflowFields = {
  journey_name: nullable(Type.String()),
  step_title: nullable(Type.String()),
  follow_up_after: nullable(Type.String({ format: 'date', description: '`YYYY-MM-DD`.' })),
  responsible_person: nullable(PersonPublic),
};

/** What memberships and relationships have in common in an update. */
export const workflowUpdateFields = {
  note: Type.String({ maxLength: maxNoteLength, description: 'Needed; trimmed, then stored verbatim.' }),
  follow_up_after: Type.Optional(nullable(Type.String({ description: '`YYYY-MM-DD`; null clears, absent leaves as it is.' }))),
  step_slug: Type.Optional(singleLine({ description: 'Active step to move to.' })),
  advance_step: Type.Optional(Type.Boolean({ description: 'Move to the next active step. Not together with `step_slug`.' })),
};

export const textChange = Type.Optional(
  Type.Object(
    { old: nullable(Type.String()), new: nullable(Type.String()) },
    { $id: 'TextChange', description: 'A value before and after: slugs of journeys and steps, dates; null where there is none.' },
  ),
);
/** Fields of `changes` that memberships and relationships share. */
export const workflowChanges = {
  /** There when the step is another one, even with the same slug. */
  current_step: textChange,
  follow_up_after: textChange,
};
